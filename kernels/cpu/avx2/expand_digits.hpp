// row_digits.hpp's expand_digits by vectors of eight: one by one, by a table, took 60 of the 500 us
// that four rows of 5120 x 5120 cost.
#pragma once

#include <immintrin.h>

#include "kernels/cpu/row_digits.hpp"

namespace radiance::cpu {
namespace {

// 512 * xq of eight e4m3 bytes; NaN counts as 0.
inline __m256i e4m3_units(__m256i bytes) {
  const __m256i seven = _mm256_set1_epi32(7);
  const __m256i magnitude = _mm256_and_si256(bytes, _mm256_set1_epi32(0x7f));
  const __m256i exponent = _mm256_srli_epi32(magnitude, 3);
  const __m256i subnormal = _mm256_cmpeq_epi32(exponent, _mm256_setzero_si256());
  const __m256i hidden = _mm256_andnot_si256(subnormal, _mm256_set1_epi32(8));
  const __m256i significand = _mm256_or_si256(_mm256_and_si256(magnitude, seven), hidden);
  // Subnormals have the weight of exponent 1: exponent - 1, and 0 - 1 + 1.
  const __m256i shift =
      _mm256_sub_epi32(_mm256_sub_epi32(exponent, _mm256_set1_epi32(1)), subnormal);
  const __m256i nan = _mm256_cmpeq_epi32(magnitude, _mm256_set1_epi32(kE4m3Nan));
  const __m256i units = _mm256_andnot_si256(nan, _mm256_sllv_epi32(significand, shift));
  const __m256i negative = _mm256_cmpgt_epi32(bytes, _mm256_set1_epi32(0x7f));
  return _mm256_sub_epi32(_mm256_xor_si256(units, negative), negative);
}

// The lowest byte of each of eight integers.
inline int64_t low_bytes(__m256i x) {
  const __m256i first =
      _mm256_setr_epi8(0, 4, 8, 12, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, 0, 4, 8, 12, -1,
                       -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1);
  const __m256i packed = _mm256_shuffle_epi8(x, first);
  return _mm_cvtsi128_si64(
      _mm_unpacklo_epi32(_mm256_castsi256_si128(packed), _mm256_extracti128_si256(packed, 1)));
}

inline i32 sum_of(__m256i x) {
  __m128i half = _mm_add_epi32(_mm256_castsi256_si128(x), _mm256_extracti128_si256(x, 1));
  half = _mm_add_epi32(half, _mm_shuffle_epi32(half, 0x4e));
  half = _mm_add_epi32(half, _mm_shuffle_epi32(half, 0xb1));
  return _mm_cvtsi128_si32(half);
}

inline u32 any_bits(__m256i x) {
  __m128i half = _mm_or_si128(_mm256_castsi256_si128(x), _mm256_extracti128_si256(x, 1));
  half = _mm_or_si128(half, _mm_shuffle_epi32(half, 0x4e));
  half = _mm_or_si128(half, _mm_shuffle_epi32(half, 0xb1));
  return static_cast<u32>(_mm_cvtsi128_si32(half));
}

inline void expand_digits_by_eight(const u8* xq, int64_t k, int64_t group, u8* row) {
  const __m128i order = _mm_setr_epi8(0, 4, 1, 5, 2, 6, 3, 7, -1, -1, -1, -1, -1, -1, -1, -1);
  const __m256i half = _mm256_set1_epi32(128);
  auto* parts = reinterpret_cast<RowPart*>(row + row_parts_offset(k));
  u8* block = row;
  alignas(32) i32 units[kPartK];
  for (int64_t begin = 0; begin < k; begin += group) {
    const int64_t group_end = begin + group < k ? begin + group : k;
    for (int64_t part = 0; part < parts_per_group(group); ++part) {
      const int64_t from = begin + part * kPartK;
      const int64_t end = from + kPartK < group_end ? from + kPartK : group_end;
      __m256i all = _mm256_setzero_si256();
      for (int64_t k0 = from; k0 < end; k0 += 8) {
        const __m128i bytes = _mm_loadl_epi64(reinterpret_cast<const __m128i*>(xq + k0));
        const __m256i eight = e4m3_units(_mm256_cvtepu8_epi32(_mm_shuffle_epi8(bytes, order)));
        all = _mm256_or_si256(all, _mm256_abs_epi32(eight));
        _mm256_store_si256(reinterpret_cast<__m256i*>(units + (k0 - from)), eight);
      }
      const PartForm form = part_form(any_bits(all));
      const __m128i shift = _mm_cvtsi32_si128(form.shift);
      __m256i sum = _mm256_setzero_si256();
      for (int64_t k0 = from; k0 < end; k0 += 8, block += kDigitBlockBytes) {
        __m256i rest = _mm256_sra_epi32(
            _mm256_load_si256(reinterpret_cast<const __m256i*>(units + (k0 - from))), shift);
        sum = _mm256_add_epi32(sum, rest);
        for (int d = 0; d < kDigits; ++d) {
          const int64_t eight = low_bytes(rest);
          __builtin_memcpy(block + 8 * d, &eight, 8);
          rest = _mm256_srai_epi32(_mm256_add_epi32(rest, half), kDigitBits);
        }
      }
      *parts++ = {sum_of(sum), form.digits, part_unit(form)};
    }
  }
}

}  // namespace
}  // namespace radiance::cpu
