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

// Adds a part's sums, which began at -offset * part.sum, to the running sums. `rest` is that of the
// part's rests, begun likewise, if it has any.
template <Format format>
inline __m512 fold_part(__m512i sum, const RowPart& part, const __m512i* rest, __m512 scale,
                        __m512 total) {
  float unit = part.unit;
  if (part.rest_count != 0) {
    unit = kIntegerUnit;
    sum = _mm512_add_epi32(_mm512_sll_epi32(sum, _mm_cvtsi32_si128(part.shift)),
                           _mm512_sll_epi32(*rest, _mm_cvtsi32_si128(part.rest_shift)));
  }
  return _mm512_fmadd_ps(_mm512_cvtepi32_ps(sum), _mm512_mul_ps(scale, _mm512_set1_ps(unit)),
                         total);
}

}  // namespace
}  // namespace radiance::cpu
