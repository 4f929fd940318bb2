// row_integers.hpp's expand_integers by vectors of eight: one by one, by a table, took 60 of the
// 500 us that four rows of 5120 x 5120 cost.
#pragma once

#include <immintrin.h>

#include "kernels/cpu/row_integers.hpp"

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

inline __m256i rests_of(__m256i units, __m256i rest_bits) {
  const __m256i dense = _mm256_cmpeq_epi32(_mm256_and_si256(_mm256_abs_epi32(units), rest_bits),
                                           _mm256_setzero_si256());
  return _mm256_andnot_si256(dense, units);
}

template <RowForm row_form>
inline void expand_integers_by_eight(const u8* xq, int64_t k, int64_t group, u8* row) {
  constexpr bool words = row_form == RowForm::kWords;
  const __m128i order = words
                            ? _mm_setr_epi8(0, 1, 2, 3, 4, 5, 6, 7, -1, -1, -1, -1, -1, -1, -1, -1)
                            : _mm_setr_epi8(0, 4, 1, 5, 2, 6, 3, 7, -1, -1, -1, -1, -1, -1, -1, -1);
  const __m256i half = _mm256_set1_epi32(128);
  auto* part = reinterpret_cast<RowPart*>(row + row_parts_offset(k));
  auto* rests = reinterpret_cast<RowRest*>(row + row_rests_offset(k, group));
  i32 rest_count = 0;
  alignas(32) i32 units[kPartK];
  for (int64_t begin = 0; begin < k; begin += group) {
    const int64_t group_end = begin + group < k ? begin + group : k;
    for (int64_t p = 0; p < parts_per_group(group); ++p, ++part) {
      const int64_t from = begin + p * kPartK < group_end ? begin + p * kPartK : group_end;
      const int64_t count = (from + kPartK < group_end ? from + kPartK : group_end) - from;
      __m256i all = _mm256_setzero_si256();
      for (int64_t i = 0; i < count; i += 8) {
        const __m128i bytes = _mm_loadl_epi64(reinterpret_cast<const __m128i*>(xq + from + i));
        const __m256i eight = e4m3_units(_mm256_cvtepu8_epi32(_mm_shuffle_epi8(bytes, order)));
        all = _mm256_or_si256(all, _mm256_abs_epi32(eight));
        _mm256_store_si256(reinterpret_cast<__m256i*>(units + i), eight);
      }
      const PartForm form = part_form(any_bits(all), units, count);
      *part = make_part(units, count, from, form, row_form, rest_count, rests);
      rest_count += part->rest_count;
      const __m256i rest_bits = _mm256_set1_epi32(static_cast<i32>(form.rest_bits));
      const __m128i shift = _mm_cvtsi32_si128(form.shift);
      u8* block = row + from / 8 * kIntegerBlockBytes;
      __m256i sum = _mm256_setzero_si256();
      for (int64_t i = 0; i < count; i += 8, block += kIntegerBlockBytes) {
        const __m256i eight = _mm256_load_si256(reinterpret_cast<const __m256i*>(units + i));
        const __m256i dense =
            _mm256_sra_epi32(_mm256_sub_epi32(eight, rests_of(eight, rest_bits)), shift);
        sum = _mm256_add_epi32(sum, dense);
        if constexpr (words) {
          const __m128i packed =
              _mm_packs_epi32(_mm256_castsi256_si128(dense), _mm256_extracti128_si256(dense, 1));
          _mm_storeu_si128(reinterpret_cast<__m128i*>(block), packed);
        } else {
          const int64_t low = low_bytes(dense);
          const int64_t high =
              low_bytes(_mm256_srai_epi32(_mm256_add_epi32(dense, half), kDigitBits));
          __builtin_memcpy(block, &low, 8);
          __builtin_memcpy(block + 8, &high, 8);
        }
      }
      part->sum = sum_of(sum);
    }
  }
}

}  // namespace
}  // namespace radiance::cpu
