// How a prefill workgroup brings its 256 rows into LDS, in the order of the matrix unit's operands:
// [row tile][pair of steps][lane][16 bytes].
//
// A thread brings 16 bytes of several rows; eight lanes take eight rows, their neighbours the next
// 16 bytes of these, so that stores fill all banks. Rows past the last are read as the last.
#pragma once

#include "kernels/gfx1201/types.hip.hpp"

namespace radiance::gfx1201 {

template <int kStageK>
struct RowStage {
  static constexpr int kChunks = kStageK / 16;  // of a row
  static constexpr int kLoads = kPrefillM * kChunks / kThreads;
  static constexpr u32 kRowsAtOnce = kThreads / kChunks;
  static constexpr u32 kTileBytesInLds = kTileM * kStageK;

  u32 offset[kLoads];
  u8* put;

  RADIANCE_DEVICE RowStage(const GemmParams& p, i32 row0, u8* shared) {
    const u32 t = thread_index();
    const u32 row = t % 8 + t / (8 * kChunks) * 8, chunk = t / 8 % kChunks;
    const u32 last = static_cast<u32>(p.m - row0) - 1;
    const u32 stride = static_cast<u32>(p.slabs) * kSlabK;
#pragma unroll
    for (int i = 0; i < kLoads; ++i) {
      const u32 r = row + static_cast<u32>(i) * kRowsAtOnce;
      offset[i] = (r < last ? r : last) * stride + chunk * 16;
    }
    put = shared + row / 16 * kTileBytesInLds + chunk * 256 + row % 16 * 16;
  }

  // xq: the slab of the workgroup's first row; stage: of the slab.
  RADIANCE_DEVICE void load(GlobalBytes xq, int stage, u32x4 (&rows)[kLoads]) {
#pragma unroll
    for (int i = 0; i < kLoads; ++i) rows[i] = load_at<u32x4>(xq, offset[i], stage * kStageK);
  }

  RADIANCE_DEVICE void store(const u32x4 (&rows)[kLoads]) const {
#pragma unroll
    for (int i = 0; i < kLoads; ++i) {
      *reinterpret_cast<u32x4*>(put + i * static_cast<int>(kRowsAtOnce / 16 * kTileBytesInLds)) =
          rows[i];
    }
  }
};

}  // namespace radiance::gfx1201
