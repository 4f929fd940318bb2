// decode.cpp with AVX-VNNI: one vpdpbusd for a vpmaddubsw and a vpaddw, and no widening. Processors
// with 256-bit vectors have it from Alder Lake and Zen 5 on.
#include "kernels/cpu/avx2/digits.hpp"
#include "kernels/cpu/avx2/kernels.hpp"

namespace radiance::cpu {
namespace {

struct DotBytes {
  template <Format format>
  static constexpr int64_t blocks_at_once = 8;

  template <Format format>
  static inline void add(const uint8_t* codes, const uint8_t* row, int64_t b0, int64_t b1,
                         WideSums& wide) {
    const __m256i mask = _mm256_set1_epi8(0x0f);
    __m256i sum[2][kDigits];
#pragma GCC unroll 8
    for (int d = 0; d < kDigits; ++d) {
      sum[0][d] = wide.digit[0][d];
      sum[1][d] = wide.digit[1][d];
    }
    for (int64_t b = b0; b < b1; ++b) {
      const uint8_t* line = codes + b * kBlockBytes;
      _mm_prefetch(line + 1024, _MM_HINT_T0);
      const auto* digits = reinterpret_cast<const i32*>(row + b * kDigitBlockBytes);
      const __m256i first = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(line));
      const __m256i second = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(line + 32));
      const __m256i low[2] = {code_bytes<format>(_mm256_and_si256(first, mask)),
                              code_bytes<format>(_mm256_and_si256(second, mask))};
      const __m256i high[2] = {
          code_bytes<format>(_mm256_and_si256(_mm256_srli_epi16(first, 4), mask)),
          code_bytes<format>(_mm256_and_si256(_mm256_srli_epi16(second, 4), mask))};
#pragma GCC unroll 8
      for (int d = 0; d < kDigits; ++d) {
        const __m256i x = _mm256_set1_epi32(digits[2 * d]);
        const __m256i z = _mm256_set1_epi32(digits[2 * d + 1]);
        sum[0][d] = _mm256_dpbusd_avx_epi32(sum[0][d], low[0], x);
        sum[1][d] = _mm256_dpbusd_avx_epi32(sum[1][d], low[1], x);
        sum[0][d] = _mm256_dpbusd_avx_epi32(sum[0][d], high[0], z);
        sum[1][d] = _mm256_dpbusd_avx_epi32(sum[1][d], high[1], z);
      }
    }
#pragma GCC unroll 8
    for (int d = 0; d < kDigits; ++d) {
      wide.digit[0][d] = sum[0][d];
      wide.digit[1][d] = sum[1][d];
    }
  }
};

}  // namespace

void avx2_decode_vnni(const GemmTask& task, int64_t tile_begin, int64_t tile_end, void*) {
  decode_digits<DotBytes>(task, tile_begin, tile_end);
}

}  // namespace radiance::cpu
