// One or two rows: exact integer group sums from byte multiply-adds.
//
// Converting codes to float takes 4 instructions for 8 weights before the first FMA, too slow for
// the stream. Instead the activations stand as two signed digits (row_integers.hpp) and are met
// with the codes as they stand, unsigned: per 64 bytes of codes 6 instructions of unpack and 16 of
// vpmaddubsw + vpaddw. The zero point comes back through the digits' own group sums.
//
// Digits reach -128 and offset codes 15 (int4) or 24 (e2m1 in halves, plus 12), so a pair is at
// most 3840 or 6144 and int16 holds 8 or 5 pairs: sums are widened after 8 or 4, two a block.
#include "kernels/cpu/avx2/digits.hpp"
#include "kernels/cpu/avx2/kernels.hpp"

namespace radiance::cpu {
namespace {

struct MultiplyAddBytes {
  template <Format format>
  static constexpr int64_t blocks_at_once = format == Format::kInt4 ? 4 : 2;

  // Adds blocks b0 .. b1 - 1 of a tile, few enough for 16 bits. Six sums, four registers of codes
  // and the mask leave five: the sums of 32 bits stay in memory.
  template <Format format>
  static inline void add(const uint8_t* codes, const uint8_t* row, int64_t b0, int64_t b1,
                         WideSums& wide) {
    const __m256i mask = _mm256_set1_epi8(0x0f);
    __m256i sum[2][kDigits];
#pragma GCC unroll 8
    for (int d = 0; d < kDigits; ++d) sum[0][d] = sum[1][d] = _mm256_setzero_si256();
    for (int64_t b = b0; b < b1; ++b) {
      const uint8_t* line = codes + b * kBlockBytes;
      _mm_prefetch(line + 1024, _MM_HINT_T0);
      const auto* words = reinterpret_cast<const i32*>(row + b * kIntegerBlockBytes);
      const __m256i first = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(line));
      const __m256i second = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(line + 32));
      const __m256i low[2] = {code_bytes<format>(_mm256_and_si256(first, mask)),
                              code_bytes<format>(_mm256_and_si256(second, mask))};
      const __m256i high[2] = {
          code_bytes<format>(_mm256_and_si256(_mm256_srli_epi16(first, 4), mask)),
          code_bytes<format>(_mm256_and_si256(_mm256_srli_epi16(second, 4), mask))};
#pragma GCC unroll 8
      for (int d = 0; d < kDigits; ++d) {
        const __m256i x = _mm256_set1_epi32(words[2 * d]);
        sum[0][d] = _mm256_add_epi16(sum[0][d], _mm256_maddubs_epi16(low[0], x));
        sum[1][d] = _mm256_add_epi16(sum[1][d], _mm256_maddubs_epi16(low[1], x));
        const __m256i z = _mm256_set1_epi32(words[2 * d + 1]);
        sum[0][d] = _mm256_add_epi16(sum[0][d], _mm256_maddubs_epi16(high[0], z));
        sum[1][d] = _mm256_add_epi16(sum[1][d], _mm256_maddubs_epi16(high[1], z));
      }
    }
    const __m256i ones = _mm256_set1_epi16(1);
#pragma GCC unroll 8
    for (int d = 0; d < kDigits; ++d) {
#pragma GCC unroll 2
      for (int half = 0; half < 2; ++half) {
        __m256i& digit = wide.digit[half][d];
        digit = _mm256_add_epi32(digit, _mm256_madd_epi16(sum[half][d], ones));
      }
    }
  }
};

}  // namespace

void avx2_decode(const GemmTask& task, int64_t tile_begin, int64_t tile_end, void*) {
  decode_digits<MultiplyAddBytes>(task, tile_begin, tile_end);
}

}  // namespace radiance::cpu
