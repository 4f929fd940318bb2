#include <immintrin.h>

#include "kernels/cpu/avx512/kernels.hpp"

namespace radiance::cpu {
namespace {

// Four streams of two lines each: what a core needs to reach its memory's rate.
uint64_t stream_read(const uint8_t* data, int64_t bytes) {
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
  return static_cast<uint64_t>(_mm512_reduce_add_epi64(seen[0]));
}

constexpr int kSums = 24;

float peak(int64_t iterations) {
  __m512 sum[kSums];
  for (auto& s : sum) s = _mm512_setzero_ps();
  __m512i one = _mm512_set1_epi32(0x3f803f80);
  for (int64_t it = 0; it < iterations; ++it) {
    asm volatile("" : "+v"(one));  // keeps the loop, costs nothing
#pragma GCC unroll 24
    for (int i = 0; i < kSums; ++i) {
      sum[i] = _mm512_dpbf16_ps(sum[i], (__m512bh)one, (__m512bh)one);
    }
  }
  for (int i = 1; i < kSums; ++i) sum[0] = _mm512_add_ps(sum[0], sum[i]);
  return _mm512_reduce_add_ps(sum[0]);
}

}  // namespace

const ProbeKernels kAvx512ProbeKernels = {stream_read, "vdpbf16ps", peak, kSums * 32};

}  // namespace radiance::cpu
