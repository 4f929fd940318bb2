#include <immintrin.h>

#include "kernels/cpu/avx512/kernels.hpp"
#include "kernels/cpu/row_integers.hpp"

namespace radiance::cpu {
namespace {

// Loops over them are unrolled, or GCC 12 keeps them in memory; the instructions stand in assembly,
// or it sees that all sums are equal.
constexpr int kSums = 24;

template <typename Add>
inline float peak(int64_t iterations, __m512i one, const Add& add) {
  __m512i sum[kSums];
#pragma GCC unroll 24
  for (int i = 0; i < kSums; ++i) sum[i] = _mm512_setzero_si512();
  for (int64_t it = 0; it < iterations; ++it) {
#pragma GCC unroll 24
    for (int i = 0; i < kSums; ++i) add(sum[i], one);
  }
#pragma GCC unroll 24
  for (int i = 1; i < kSums; ++i) sum[0] = _mm512_xor_si512(sum[0], sum[i]);
  return static_cast<float>(_mm512_reduce_or_epi32(sum[0]));
}

float bf16_peak(int64_t iterations) {
  return peak(iterations, _mm512_set1_epi16(0x3f80),
              [](__m512i& sum, __m512i one) __attribute__((always_inline)) {
                asm volatile("vdpbf16ps %1, %1, %0" : "+v"(sum) : "v"(one));
              });
}

float digits_peak(int64_t iterations) {
  return peak(iterations, _mm512_set1_epi8(1),
              [](__m512i& sum, __m512i one) __attribute__((always_inline)) {
                asm volatile("vpdpbusd %1, %1, %0" : "+v"(sum) : "v"(one));
              });
}

float words_peak(int64_t iterations) {
  return peak(iterations, _mm512_set1_epi16(1),
              [](__m512i& sum, __m512i one) __attribute__((always_inline)) {
                asm volatile("vpdpwssd %1, %1, %0" : "+v"(sum) : "v"(one));
              });
}

}  // namespace

// Four streams of two lines each: what a core needs to reach its memory's rate.
uint64_t avx512_stream_read(const uint8_t* data, int64_t bytes) {
  constexpr int streams = 4;
  const int64_t part = bytes / (streams * 128) * 128;
  __m512i seen[2 * streams];
  for (auto& s : seen) s = _mm512_setzero_si512();
  for (int64_t at = 0; at < part; at += 128) {
    for (int i = 0; i < streams; ++i) {
      const uint8_t* line = data + i * part + at;
      seen[2 * i] = _mm512_xor_si512(seen[2 * i], _mm512_loadu_si512(line));
      seen[2 * i + 1] = _mm512_xor_si512(seen[2 * i + 1], _mm512_loadu_si512(line + 64));
    }
  }
  for (int64_t at = streams * part; at < bytes; at += 64) {
    seen[0] = _mm512_xor_si512(seen[0], _mm512_loadu_si512(data + at));
  }
  for (int i = 1; i < 2 * streams; ++i) seen[0] = _mm512_xor_si512(seen[0], seen[i]);
  return static_cast<uint64_t>(_mm512_reduce_or_epi64(seen[0]));
}

const PeakKernel kAvx512Bf16Peak = {"vdpbf16ps", bf16_peak, kSums * 32};
const PeakKernel kAvx512DigitsPeak = {"vpdpbusd, two a product", digits_peak, kSums * 64 / kDigits};
const PeakKernel kAvx512WordsPeak = {"vpdpwssd", words_peak, kSums * 32};

}  // namespace radiance::cpu
