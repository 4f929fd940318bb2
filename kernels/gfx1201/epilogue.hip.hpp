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

// Not an output type: bfloat16 cut instead of rounded, to see what rounding costs. There is no
// conversion instruction for bfloat16 here, rounding takes about five.
constexpr int kBf16Cut = 4;

template <int kType>
struct Output;

template <>
struct Output<kBf16> {
  using Element = u16;
  RADIANCE_DEVICE static u16 convert(float x) { return f32_to_bf16(x); }
};
template <>
struct Output<kBf16Cut> {
  using Element = u16;
  RADIANCE_DEVICE static u16 convert(float x) { return static_cast<u16>(float_bits(x) >> 16); }
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

RADIANCE_DEVICE i32 lane_row() { return static_cast<i32>(thread_index() % kWave / 16 * 8); }
RADIANCE_DEVICE i32 lane_column() { return static_cast<i32>(thread_index() % 16); }

// What a lane's eight sums are multiplied with: the rows' scales times `unit`. Rows past m give the
// last row's.
template <bool kInside>
RADIANCE_DEVICE f32x8 row_scales(const GemmParams& p, i32 row, float unit) {
  f32x8 scales;
  GlobalBytes base = global_bytes(p.x_scales + (kInside ? row : 0));
  keep_scalar(base);
  u32 offset = static_cast<u32>(lane_row()) * 4;
#pragma unroll
  for (int r = 0; r < 8; ++r) {
    if (!kInside) {
      const i32 m = row + r + lane_row();
      offset = static_cast<u32>(m < p.m ? m : p.m - 1) * 4;
    }
    scales[r] = load_at<float>(base, offset, kInside ? r * 4 : 0) * unit;
  }
  return scales;
}

template <int kType, bool kInside>
RADIANCE_DEVICE void store_rows(const GemmParams& p, TilePlace at, f32x8 sum, f32x8 scales,
                                float bias) {
  using Element = typename Output<kType>::Element;
  u32 offset =
      (static_cast<u32>(lane_row()) * static_cast<u32>(p.ldy) + static_cast<u32>(lane_column())) *
      sizeof(Element);
  if (!kInside && at.column + lane_column() >= p.n) return;
#pragma unroll
  for (int r = 0; r < 8; ++r) {
    if (!kInside && at.row + lane_row() + r >= p.m) return;
    Element* base = static_cast<Element*>(p.y) + (at.row + r) * p.ldy + at.column;
    store_at(base, offset, Output<kType>::convert(__builtin_fmaf(sum[r], scales[r], bias)));
  }
}

// Stores row_tiles x column_tiles tiles of a wave whose first one lies at `at`.
template <int kType, bool kInside, int kRows, int kColumns>
RADIANCE_DEVICE void store_tiles(const GemmParams& p, TilePlace at, f32x8 (&sum)[kRows][kColumns],
                                 float unit) {
  float bias[kColumns];
#pragma unroll
  for (int j = 0; j < kColumns; ++j) bias[j] = load_bias(p, at.column + j * kTileN + lane_column());
#pragma unroll
  for (int i = 0; i < kRows; ++i) {
    if (!kInside && at.row + i * kTileM >= p.m) return;
    const f32x8 scales = row_scales<kInside>(p, at.row + i * kTileM, unit);
#pragma unroll
    for (int j = 0; j < kColumns; ++j) {
      store_rows<kType, kInside>(p, {at.row + i * kTileM, at.column + j * kTileN}, sum[i][j],
                                 scales, bias[j]);
      // Addresses of all rows at once would take more registers than the main loop.
      schedule_barrier();
    }
  }
}

// unit: what the sums are to be multiplied with besides the rows' scales.
template <bool kInside, bool kCut = false, int kRows, int kColumns>
RADIANCE_DEVICE void store_output(const GemmParams& p, TilePlace at, f32x8 (&sum)[kRows][kColumns],
                                  float unit) {
  if (p.y_type == kBf16) {
    store_tiles<kCut ? kBf16Cut : kBf16, kInside>(p, at, sum, unit);
  } else if (p.y_type == kF16) {
    store_tiles<kF16, kInside>(p, at, sum, unit);
  } else {
    store_tiles<kF32, kInside>(p, at, sum, unit);
  }
}

// For kernels whose rows may lie further apart than 32 bits reach.
RADIANCE_DEVICE void store_element(void* y, int type, i64 index, float value) {
  if (type == kBf16) {
    static_cast<u16*>(y)[index] = Output<kBf16>::convert(value);
  } else if (type == kF16) {
    static_cast<_Float16*>(y)[index] = Output<kF16>::convert(value);
  } else {
    static_cast<float*>(y)[index] = value;
  }
}

// One element `offset` elements behind one that is the same in all lanes.
template <int kType>
RADIANCE_DEVICE void store_behind(void* y, i64 uniform_index, u32 offset, float value) {
  using Element = typename Output<kType>::Element;
  u32 bytes = offset * sizeof(Element);
  store_at(static_cast<Element*>(y) + uniform_index, bytes, Output<kType>::convert(value));
}
template <bool kCut = false>
RADIANCE_DEVICE void store_behind(const GemmParams& p, i64 uniform_index, u32 offset, float value) {
  if (p.y_type == kBf16) {
    store_behind<kCut ? kBf16Cut : kBf16>(p.y, uniform_index, offset, value);
  } else if (p.y_type == kF16) {
    store_behind<kF16>(p.y, uniform_index, offset, value);
  } else {
    store_behind<kF32>(p.y, uniform_index, offset, value);
  }
}

// The same for a workgroup that reaches past m or n, in little code instead of little time: tile by
// tile through the wave's own 256 floats of LDS, with every element's place checked.
template <bool kCut = false, int kRows, int kColumns>
RADIANCE_DEVICE void store_ragged(const GemmParams& p, TilePlace at, f32x8 (&sum)[kRows][kColumns],
                                  float unit, float* scratch) {
  float* const own = scratch + lane_row() * kTileN + lane_column();
#pragma unroll 1
  for (int tile = 0; tile < kRows * kColumns; ++tile) {
#pragma unroll
    for (int i = 0; i < kRows; ++i) {
#pragma unroll
      for (int j = 0; j < kColumns; ++j) {
        if (tile != i * kColumns + j) continue;
#pragma unroll
        for (int r = 0; r < 8; ++r) own[r * kTileN] = sum[i][j][r];
      }
    }
    const i32 row = at.row + tile / kColumns * kTileM,
              column = at.column + tile % kColumns * kTileN;
    if (column + lane_column() >= p.n) continue;
    const float bias = load_bias(p, column + lane_column());
    const u32 offset =
        static_cast<u32>(lane_row()) * static_cast<u32>(p.ldy) + static_cast<u32>(lane_column());
#pragma unroll 1
    for (int r = 0; r < 8 && row + r < p.m; ++r) {
      if (row + lane_row() + r >= p.m) continue;
      const float scale = p.x_scales[row + lane_row() + r] * unit;
      store_behind<kCut>(p, (row + r) * p.ldy + column, offset,
                         __builtin_fmaf(own[r * kTileN], scale, bias));
    }
  }
}

// The same for a wave of a workgroup whose block begins at row0 and tile0 and has kBlockN features:
// the straight way where the block lies inside m and n. shared: LDS that nobody reads any more, 256
// floats a wave.
template <int kBlockN, bool kCut = false, int kRows, int kColumns>
RADIANCE_DEVICE void store_block(const GemmParams& p, i32 row0, i32 column0, u32 wave, TilePlace at,
                                 f32x8 (&sum)[kRows][kColumns], float unit, u8* shared) {
  if (row0 + kPrefillM <= p.m && column0 + kBlockN <= p.n) {
    store_output<true, kCut>(p, at, sum, unit);
  } else {
    store_ragged<kCut>(p, at, sum, unit,
                       reinterpret_cast<float*>(shared) + wave * (kTileM * kTileN));
  }
}

}  // namespace radiance::gfx1201
