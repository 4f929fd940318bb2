#include <immintrin.h>

#include "kernels/cpu/avx2/kernels.hpp"

namespace radiance::cpu {
namespace {

// Four streams of a line each: what a core needs to reach its memory's rate.
uint64_t stream_read(const uint8_t* data, int64_t bytes) {
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

constexpr int kSums = 12;

float peak(int64_t iterations) {
  __m256 sum[kSums];
  for (auto& s : sum) s = _mm256_setzero_ps();
  __m256 one = _mm256_set1_ps(1.0f);
  for (int64_t it = 0; it < iterations; ++it) {
    asm volatile("" : "+x"(one));  // keeps the loop, costs nothing
#pragma GCC unroll 12
    for (int i = 0; i < kSums; ++i) sum[i] = _mm256_fmadd_ps(one, one, sum[i]);
  }
  for (int i = 1; i < kSums; ++i) sum[0] = _mm256_add_ps(sum[0], sum[i]);
  return _mm256_cvtss_f32(sum[0]);
}

}  // namespace

const ProbeKernels kAvx2ProbeKernels = {stream_read, "vfmadd231ps ymm", peak, kSums * 8};

}  // namespace radiance::cpu
