// decode.cpp with AVX-VNNI: one vpdpbusd for a vpmaddubsw and a vpaddw, and no widening. Processors
// with 256-bit vectors have it from Alder Lake and Zen 5 on.
#include "kernels/cpu/avx2/digits.hpp"
#include "kernels/cpu/avx2/kernels.hpp"

namespace radiance::cpu {
namespace {

// sum += products of unsigned and signed bytes, four to a lane. Not the intrinsic, which makes GCC
// 12 copy sums before it adds to them.
inline void add_products(__m256i& sum, __m256i codes, __m256i digits) {
  asm("%{vex%} vpdpbusd %2, %1, %0" : "+x"(sum) : "x"(codes), "x"(digits));
}

// High nibbles of int4 stay where they are, 16 times their value, which saves the shift.
template <Format format>
constexpr int high_bits = format == Format::kInt4 ? 4 : 0;

template <Format format>
inline __m256i unpack(__m256i words, int nibble) {
  const __m256i mask = _mm256_set1_epi8(0x0f);
  if (nibble == 0) return code_bytes<format>(_mm256_and_si256(words, mask));
  if constexpr (format == Format::kInt4) return _mm256_andnot_si256(mask, words);
  return code_bytes<format>(_mm256_and_si256(_mm256_srli_epi16(words, 4), mask));
}

struct DotBytes {
  template <Format format>
  static constexpr int64_t blocks_at_once = 16;

  template <Format format>
  static inline void add(const uint8_t* codes, const uint8_t* row, int64_t b0, int64_t b1,
                         WideSums& wide) {
    // A sum for each half of a byte: one for both is two additions of five clocks long a line,
    // where the line's twelve take six (measured: 78 % of the stream).
    __m256i sum[2][2][kDigits];
#pragma GCC unroll 8
    for (int d = 0; d < kDigits; ++d) {
      sum[0][0][d] = wide.digit[0][d];
      sum[1][0][d] = wide.digit[1][d];
      sum[0][1][d] = sum[1][1][d] = _mm256_setzero_si256();
    }
    for (int64_t b = b0; b < b1; ++b) {
      const uint8_t* line = codes + b * kBlockBytes;
      _mm_prefetch(line + 1024, _MM_HINT_T0);
      const uint8_t* block = row + b * kIntegerBlockBytes;
      // One word of codes, one of digits at a time: the sums take twelve of sixteen registers.
#pragma GCC unroll 2
      for (int nibble = 0; nibble < 2; ++nibble) {
#pragma GCC unroll 2
        for (int half = 0; half < 2; ++half) {
          const __m256i words =
              _mm256_loadu_si256(reinterpret_cast<const __m256i*>(line + 32 * half));
          const __m256i bytes = unpack<format>(words, nibble);
          asm volatile("" : "+r"(block), "+r"(line));  // or they are all loaded first
#pragma GCC unroll 8
          for (int d = 0; d < kDigits; ++d) {
            const __m256i four =
                _mm256_set1_epi32(*reinterpret_cast<const i32*>(block + 8 * d + 4 * nibble));
            add_products(sum[half][nibble][d], bytes, four);
          }
        }
      }
    }
#pragma GCC unroll 8
    for (int d = 0; d < kDigits; ++d) {
      for (int half = 0; half < 2; ++half) {
        wide.digit[half][d] = _mm256_add_epi32(
            sum[half][0][d], _mm256_srai_epi32(sum[half][1][d], high_bits<format>));
      }
    }
  }
};

}  // namespace

void avx2_decode_vnni(const GemmTask& task, int64_t tile_begin, int64_t tile_end, void*) {
  decode_digits<DotBytes>(task, tile_begin, tile_end);
}

}  // namespace radiance::cpu
