// From fp32 sums to the output's type: scale of the row, bias, store.
//
// A lane holds eight rows of one column. The row's address is the same in all lanes but for the
// lane's own 32-bit offset, so that stores take the form of a scalar base and one register: the
// host refuses strides that would not fit (max_stride in policy.hpp).
#pragma once

#include "kernels/gfx1201/types.hip.hpp"
#include "numerics/bf16.hpp"

namespace radiance::gfx1201 {

// radiance_dtype
constexpr int kBf16 = 1, kF16 = 2, kF32 = 3;

template <int kType>
struct Output;

template <>
struct Output<kBf16> {
  using Element = u16;
  RADIANCE_DEVICE static u16 convert(float x) { return f32_to_bf16(x); }
};
template <>
struct Output<kF16> {
  using Element = _Float16;
  RADIANCE_DEVICE static _Float16 convert(float x) { return static_cast<_Float16>(x); }
};
template <>
struct Output<kF32> {
  using Element = float;
  RADIANCE_DEVICE static float convert(float x) { return x; }
};

RADIANCE_DEVICE float load_element(const void* data, int type, i64 i) {
  if (type == kF32) return static_cast<const float*>(data)[i];
  if (type == kF16) return static_cast<float>(static_cast<const _Float16*>(data)[i]);
  return bf16_to_f32(static_cast<const u16*>(data)[i]);
}

RADIANCE_DEVICE float load_bias(const GemmParams& p, i32 n) {
  return p.bias == nullptr ? 0.0f : load_element(p.bias, p.bias_type, n < p.n ? n : p.n - 1);
}

// Where a wave's 16 x 16 tile lies; row and column are the same in every lane.
struct TilePlace {
  i32 row, column;
};

template <int kType, bool kInside>
RADIANCE_DEVICE void store_rows(const GemmParams& p, TilePlace at, f32x8 sum, float unit,
                                float bias) {
  using Element = typename Output<kType>::Element;
  const u32 lane = thread_index() % kWave;
  const i32 column = static_cast<i32>(lane % 16), row = static_cast<i32>(lane / 16 * 8);
  const u32 offset = static_cast<u32>(row) * static_cast<u32>(p.ldy) + static_cast<u32>(column);
  if (!kInside && at.column + column >= p.n) return;
#pragma unroll
  for (int r = 0; r < 8; ++r) {
    if (!kInside && at.row + row + r >= p.m) return;
    Element* base = static_cast<Element*>(p.y) + (at.row + r) * p.ldy + at.column;
    const float scale = p.x_scales[at.row + r + row] * unit;
    base[offset] = Output<kType>::convert(__builtin_fmaf(sum[r], scale, bias));
  }
}

// Stores a tile. unit: what the sums are to be multiplied with besides the row's scale.
template <bool kInside>
RADIANCE_DEVICE void store_tile(const GemmParams& p, TilePlace at, f32x8 sum, float unit,
                                float bias) {
  if (p.y_type == kBf16) {
    store_rows<kBf16, kInside>(p, at, sum, unit, bias);
  } else if (p.y_type == kF16) {
    store_rows<kF16, kInside>(p, at, sum, unit, bias);
  } else {
    store_rows<kF32, kInside>(p, at, sum, unit, bias);
  }
}

}  // namespace radiance::gfx1201
