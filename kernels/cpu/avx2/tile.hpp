// What the AVX2 kernels share: scales, and storing results. A tile of 16 features is two registers.
#pragma once

#include <immintrin.h>

#include "kernels/cpu/gemm_kernel.hpp"
#include "kernels/cpu/layout.hpp"
#include "numerics/bf16.hpp"
#include "numerics/f16.hpp"

namespace radiance::cpu {
namespace {

template <Format format>
constexpr int64_t kScaleBytes = format == Format::kInt4 ? 2 * kTileN : kTileN;

// The scales of features 8 * half .. 8 * half + 7 of a tile's group.
template <Format format>
inline __m256 load_scales(const uint8_t* scales, int half) {
  if constexpr (format == Format::kInt4) {
    return _mm256_cvtph_ps(_mm_loadu_si128(reinterpret_cast<const __m128i*>(scales + 16 * half)));
  } else {
    const __m256i s =
        _mm256_cvtepu8_epi32(_mm_loadl_epi64(reinterpret_cast<const __m128i*>(scales + 8 * half)));
    // 2^(s - 127): the exponent field, but for 0, which is the subnormal 2^-127.
    const __m256i zero = _mm256_cmpeq_epi32(s, _mm256_setzero_si256());
    return _mm256_castsi256_ps(_mm256_or_si256(
        _mm256_slli_epi32(s, 23), _mm256_and_si256(zero, _mm256_set1_epi32(0x00400000))));
  }
}

inline __m128i to_bf16(__m256 x) {
  const __m256i bits = _mm256_castps_si256(x);
  const __m256i lsb = _mm256_and_si256(_mm256_srli_epi32(bits, 16), _mm256_set1_epi32(1));
  const __m256i rounded = _mm256_add_epi32(bits, _mm256_add_epi32(lsb, _mm256_set1_epi32(0x7fff)));
  const __m256i quiet = _mm256_or_si256(bits, _mm256_set1_epi32(0x00400000));
  const __m256i nan = _mm256_castps_si256(_mm256_cmp_ps(x, x, _CMP_UNORD_Q));
  const __m256i high = _mm256_srli_epi32(_mm256_blendv_epi8(rounded, quiet, nan), 16);
  return _mm_packus_epi32(_mm256_castsi256_si128(high), _mm256_extracti128_si256(high, 1));
}

inline float load_bias(const GemmTask& task, int64_t n) {
  switch (task.bias_type) {
    case DType::kBf16:
      return bf16_to_f32(reinterpret_cast<const u16*>(task.bias)[n]);
    case DType::kF16:
      return f16_to_f32(reinterpret_cast<const u16*>(task.bias)[n]);
    case DType::kF32:
      break;
  }
  return reinterpret_cast<const float*>(task.bias)[n];
}

// Writes y[m][n0 .. n0 + 7] = out(s_m * sum + bias), as far as n goes.
inline void store_row(const GemmTask& task, int64_t m, int64_t n0, __m256 sum) {
  const int64_t left = task.n - n0;
  if (left <= 0) return;
  const int64_t count = left < 8 ? left : 8;
  __m256 y = _mm256_mul_ps(sum, _mm256_set1_ps(task.x_scales[m]));
  if (task.bias != nullptr) {
    alignas(32) float bias[8] = {};
    for (int64_t i = 0; i < count; ++i) bias[i] = load_bias(task, n0 + i);
    y = _mm256_add_ps(y, _mm256_load_ps(bias));
  }
  const int64_t at = m * task.ldy + n0;
  if (task.y_type == DType::kF32) {
    auto* to = reinterpret_cast<float*>(task.y) + at;
    if (count == 8) {
      _mm256_storeu_ps(to, y);
    } else {
      alignas(32) float values[8];
      _mm256_store_ps(values, y);
      for (int64_t i = 0; i < count; ++i) to[i] = values[i];
    }
    return;
  }
  const __m128i halves = task.y_type == DType::kBf16
                             ? to_bf16(y)
                             : _mm256_cvtps_ph(y, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
  auto* to = reinterpret_cast<u16*>(task.y) + at;
  if (count == 8) {
    _mm_storeu_si128(reinterpret_cast<__m128i*>(to), halves);
  } else {
    alignas(16) u16 values[8];
    _mm_store_si128(reinterpret_cast<__m128i*>(values), halves);
    for (int64_t i = 0; i < count; ++i) to[i] = values[i];
  }
}

}  // namespace
}  // namespace radiance::cpu
