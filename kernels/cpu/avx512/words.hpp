// What the kernels that multiply 16-bit words share: codes as words, in pairs of k.
#pragma once

#include "kernels/cpu/avx512/tile.hpp"
#include "kernels/cpu/row_integers.hpp"

namespace radiance::cpu {
namespace {

// int4 as it stands, 8 more than the value: a mask and a shift, on whatever port is free, where a
// table lookup has one. e2m1 by table, in halves.
template <Format format>
struct WordCodes;

template <>
struct WordCodes<Format::kInt4> {
  static constexpr i32 offset = 8;
  static constexpr float unit = 1.0f;
  // The words of each lane's nibbles `nibble` of either half.
  static __m512i of_lowest(__m512i words) {
    return _mm512_and_si512(words, _mm512_set1_epi32(0x000f000f));
  }
};

template <>
struct WordCodes<Format::kMxfp4> {
  static constexpr i32 offset = 0;
  static constexpr float unit = 0.5f;

  // Twice: vpermw looks at five bits of an index.
  struct alignas(64) Halves {
    i16 value[32];
  };
  static constexpr Halves make_halves() {
    Halves halves{};
    for (u32 i = 0; i < 32; ++i) {
      halves.value[i] = static_cast<i16>(e2m1_to_f32(static_cast<u8>(i & 15u)) * 2.0f);
    }
    return halves;
  }
  static __m512i of_lowest(__m512i words) {
    static constexpr Halves halves = make_halves();
    return _mm512_permutexvar_epi16(words, _mm512_load_si512(halves.value));
  }
};

// The value of every code, twice (see tile.hpp), in WordCodes' units.
struct alignas(64) WordValues {
  i16 value[32];
};

template <Format format>
constexpr WordValues make_word_values() {
  WordValues values{};
  for (u32 i = 0; i < 32; ++i) {
    const u32 code = i & 15u;
    values.value[i] = static_cast<i16>(
        format == Format::kInt4 ? static_cast<float>(int4_value(code))
                                : e2m1_to_f32(static_cast<u8>(code)) / WordCodes<format>::unit);
  }
  return values;
}

template <Format format>
inline __m512i load_word_table() {
  static constexpr WordValues values = make_word_values<format>();
  return _mm512_load_si512(values.value);
}

// The codes of k = 2j and 2j + 1 of each lane's word.
template <Format format, int j>
inline __m512i unpack_words(__m512i words) {
  const __m512i shifted = j == 0 ? words : _mm512_srli_epi16(words, 4 * j);
  if constexpr (format == Format::kInt4 && j == 3) return shifted;
  return WordCodes<format>::of_lowest(shifted);
}

// sum += products of two pairs of words. Not the intrinsic: with it GCC 12 copies sums before
// adding to them.
inline void add_word_products(__m512i& sum, __m512i codes, __m512i x) {
  asm("vpdpwssd %2, %1, %0" : "+v"(sum) : "v"(codes), "v"(x));
}

inline __m512i load_pair(const uint8_t* x) {
  return _mm512_set1_epi32(*reinterpret_cast<const i32*>(x));
}

// The sum of a part's dense integers and that of its rests, together in units of 1 / 512.
inline __m512i join_rests(__m512i sum, __m512i rest, const RowPart& part) {
  return _mm512_add_epi32(_mm512_sll_epi32(sum, _mm_cvtsi32_si128(part.shift)),
                          _mm512_sll_epi32(rest, _mm_cvtsi32_si128(part.rest_shift)));
}

// Adds the sums of a row's part with some tiles to the running sums, both in memory.
template <int tiles>
inline void fold_part(const __m512i* sums, const RowPart& part, const __m512* scales,
                      __m512* totals) {
  const __m512 unit = _mm512_set1_ps(part.rest_count == 0 ? part.unit : kIntegerUnit);
#pragma GCC unroll 8
  for (int i = 0; i < tiles; ++i) {
    totals[i] =
        _mm512_fmadd_ps(_mm512_cvtepi32_ps(sums[i]), _mm512_mul_ps(scales[i], unit), totals[i]);
  }
}

}  // namespace
}  // namespace radiance::cpu
