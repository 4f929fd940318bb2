#include <immintrin.h>

#include "kernels/cpu/avx2/kernels.hpp"
#include "kernels/cpu/row_integers.hpp"

namespace radiance::cpu {
namespace {

// Loops over them are unrolled, or GCC 12 keeps them in memory; the instructions stand in assembly,
// or it sees that all sums are equal.
constexpr int kSums = 12;

template <typename Add>
inline float peak(int64_t iterations, __m256i one, const Add& add) {
  __m256i sum[kSums];
#pragma GCC unroll 12
  for (int i = 0; i < kSums; ++i) sum[i] = _mm256_setzero_si256();
  for (int64_t it = 0; it < iterations; ++it) {
#pragma GCC unroll 12
    for (int i = 0; i < kSums; ++i) add(sum[i], one);
  }
#pragma GCC unroll 12
  for (int i = 1; i < kSums; ++i) sum[0] = _mm256_xor_si256(sum[0], sum[i]);
  return static_cast<float>(_mm256_cvtsi256_si32(sum[0]));
}

float fma_peak(int64_t iterations) {
  return peak(iterations, _mm256_castps_si256(_mm256_set1_ps(1.0f)),
              [](__m256i& sum, __m256i one) __attribute__((always_inline)) {
                asm volatile("vfmadd231ps %1, %1, %0" : "+x"(sum) : "x"(one));
              });
}

float maddubs_peak(int64_t iterations) {
  return peak(iterations, _mm256_set1_epi8(1),
              [](__m256i& sum, __m256i one) __attribute__((always_inline)) {
                __m256i pairs;
                asm volatile("vpmaddubsw %2, %2, %1\n\tvpaddw %1, %0, %0"
                             : "+x"(sum), "=&x"(pairs)
                             : "x"(one));
              });
}

float vnni_peak(int64_t iterations) {
  return peak(iterations, _mm256_set1_epi8(1),
              [](__m256i& sum, __m256i one) __attribute__((always_inline)) {
                asm volatile("%{vex%} vpdpbusd %1, %1, %0" : "+x"(sum) : "x"(one));
              });
}

}  // namespace

// Four streams of a line each: what a core needs to reach its memory's rate.
uint64_t avx2_stream_read(const uint8_t* data, int64_t bytes) {
  constexpr int streams = 4;
  const int64_t part = bytes / (streams * 64) * 64;
  __m256i seen[2 * streams];
  for (auto& s : seen) s = _mm256_setzero_si256();
  const auto read = [&](int i, const uint8_t* line) {
    const auto* halves = reinterpret_cast<const __m256i*>(line);
    seen[2 * i] = _mm256_xor_si256(seen[2 * i], _mm256_loadu_si256(halves));
    seen[2 * i + 1] = _mm256_xor_si256(seen[2 * i + 1], _mm256_loadu_si256(halves + 1));
  };
  for (int64_t at = 0; at < part; at += 64) {
    for (int i = 0; i < streams; ++i) read(i, data + i * part + at);
  }
  for (int64_t at = streams * part; at < bytes; at += 64) read(0, data + at);
  for (int i = 1; i < 2 * streams; ++i) seen[0] = _mm256_xor_si256(seen[0], seen[i]);
  alignas(32) uint64_t parts[4];
  _mm256_store_si256(reinterpret_cast<__m256i*>(parts), seen[0]);
  return parts[0] ^ parts[1] ^ parts[2] ^ parts[3];
}

const PeakKernel kAvx2FmaPeak = {"vfmadd231ps ymm", fma_peak, kSums * 8};
const PeakKernel kAvx2DigitsPeak = {"vpmaddubsw + vpaddw, two a product", maddubs_peak,
                                    kSums * 32 / kDigits};
const PeakKernel kAvx2VnniDigitsPeak = {"vpdpbusd ymm, two a product", vnni_peak,
                                        kSums * 32 / kDigits};

}  // namespace radiance::cpu
