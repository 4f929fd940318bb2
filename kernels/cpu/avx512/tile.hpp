// What the AVX-512 and AMX kernels share: unpacking codes, loading scales, storing results.
#pragma once

#include <immintrin.h>

#include "kernels/cpu/gemm_kernel.hpp"
#include "kernels/cpu/layout.hpp"
#include "numerics/bf16.hpp"
#include "numerics/e2m1.hpp"
#include "numerics/int4.hpp"

namespace radiance::cpu {
namespace {

// The bf16 value of every code, twice: vpermw looks at five bits of an index, and the fifth is the
// next nibble's lowest.
struct alignas(64) CodeValues {
  u16 bf16[32];
};

template <Format format>
constexpr CodeValues make_code_values() {
  CodeValues values{};
  for (u32 i = 0; i < 32; ++i) {
    const u32 code = i & 15u;
    const float value = format == Format::kInt4 ? static_cast<float>(int4_value(code))
                                                : e2m1_to_f32(static_cast<u8>(code));
    values.bf16[i] = f32_to_bf16(value);
  }
  return values;
}

template <Format format>
inline __m512i load_code_table() {
  static constexpr CodeValues values = make_code_values<format>();
  return _mm512_load_si512(values.bf16);
}

// The bf16 pairs of k = 2j and 2j + 1, of each lane's word of codes.
template <int j>
inline __m512bh unpack(__m512i table, __m512i words) {
  const __m512i index = j == 0 ? words : _mm512_srli_epi16(words, 4 * j);
  return (__m512bh)_mm512_permutexvar_epi16(index, table);
}

template <Format format>
constexpr int64_t kScaleBytes = format == Format::kInt4 ? 2 * kTileN : kTileN;

template <Format format>
inline __m512 load_scales(const uint8_t* scales) {
  if constexpr (format == Format::kInt4) {
    return _mm512_cvtph_ps(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(scales)));
  } else {
    const __m512i s =
        _mm512_cvtepu8_epi32(_mm_loadu_si128(reinterpret_cast<const __m128i*>(scales)));
    // 2^(s - 127): the exponent field, but for 0, which is the subnormal 2^-127.
    const __mmask16 zero = _mm512_testn_epi32_mask(s, s);
    return _mm512_castsi512_ps(
        _mm512_mask_mov_epi32(_mm512_slli_epi32(s, 23), zero, _mm512_set1_epi32(0x00400000)));
  }
}

inline __m256i to_bf16(__m512 x) {
  // By integers: vcvtneps2bf16 would flush results that are bf16 subnormals.
  const __m512i bits = _mm512_castps_si512(x);
  const __m512i lsb = _mm512_and_si512(_mm512_srli_epi32(bits, 16), _mm512_set1_epi32(1));
  const __m512i rounded = _mm512_add_epi32(bits, _mm512_add_epi32(lsb, _mm512_set1_epi32(0x7fff)));
  const __mmask16 nan = _mm512_cmp_ps_mask(x, x, _CMP_UNORD_Q);
  const __m512i quiet = _mm512_or_si512(bits, _mm512_set1_epi32(0x00400000));
  return _mm512_cvtepi32_epi16(_mm512_srli_epi32(_mm512_mask_mov_epi32(rounded, nan, quiet), 16));
}

inline __m512 load_bias(const GemmTask& task, int64_t n0, __mmask16 lanes) {
  const int64_t at = n0 * (task.bias_type == DType::kF32 ? 4 : 2);
  switch (task.bias_type) {
    case DType::kBf16:
      return _mm512_castsi512_ps(_mm512_slli_epi32(
          _mm512_cvtepu16_epi32(_mm256_maskz_loadu_epi16(lanes, task.bias + at)), 16));
    case DType::kF16:
      return _mm512_cvtph_ps(_mm256_maskz_loadu_epi16(lanes, task.bias + at));
    case DType::kF32:
      break;
  }
  return _mm512_maskz_loadu_ps(lanes, task.bias + at);
}

// Writes y[m][n0 .. n0 + 15] = out(s_m * sum + bias), as far as n goes.
inline void store_row(const GemmTask& task, int64_t m, int64_t n0, __m512 sum) {
  const int64_t left = task.n - n0;
  const __mmask16 lanes = left >= kTileN ? 0xffff : static_cast<__mmask16>((1u << left) - 1);
  const __m512 scale = _mm512_set1_ps(task.x_scales[m]);
  const __m512 y = task.bias == nullptr ? _mm512_mul_ps(sum, scale)
                                        : _mm512_fmadd_ps(sum, scale, load_bias(task, n0, lanes));
  const int64_t at = m * task.ldy + n0;
  switch (task.y_type) {
    case DType::kBf16:
      _mm256_mask_storeu_epi16(task.y + 2 * at, lanes, to_bf16(y));
      return;
    case DType::kF16:
      _mm256_mask_storeu_epi16(task.y + 2 * at, lanes,
                               _mm512_cvtps_ph(y, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC));
      return;
    case DType::kF32:
      _mm512_mask_storeu_ps(task.y + 4 * at, lanes, y);
      return;
  }
}

// Unpacks blocks of one tile into rows of 16 bf16 pairs (64 bytes), k ascending.
template <Format format>
inline void unpack_tile(const uint8_t* codes, int64_t blocks, uint8_t* panel) {
  const __m512i table = load_code_table<format>();
  for (int64_t b = 0; b < blocks; ++b) {
    const __m512i words = _mm512_loadu_si512(codes + b * kBlockBytes);
    _mm512_store_si512(panel + b * 256, (__m512i)unpack<0>(table, words));
    _mm512_store_si512(panel + b * 256 + 64, (__m512i)unpack<1>(table, words));
    _mm512_store_si512(panel + b * 256 + 128, (__m512i)unpack<2>(table, words));
    _mm512_store_si512(panel + b * 256 + 192, (__m512i)unpack<3>(table, words));
  }
}

}  // namespace
}  // namespace radiance::cpu
