// Up to 64 rows: a workgroup has 128 features, a wave 16 of them and all rows.
//
// A packed weight byte is used by one wave alone, so it goes from memory to registers to the matrix
// unit and never through LDS. Rows of activations are shared by the eight waves and go through LDS,
// in the order in which the matrix unit wants them, in two buffers: one barrier a slab. The loads
// of the next slab are under way while this one is multiplied; they reuse the registers that the
// unpack has just emptied.
#pragma once

#include "kernels/gfx1201/epilogue.hip.hpp"
#include "kernels/gfx1201/split.hip.hpp"
#include "kernels/gfx1201/unpack.hip.hpp"
#include "kernels/gfx1201/wmma.hip.hpp"

namespace radiance::gfx1201 {

constexpr u32 kRowTileBytes = kTileM * kSlabK;  // of a slab: [pair of steps 4][lane 32][16 bytes]

// A thread's share of a slab of rows: 16 bytes of every two row tiles, 8 of an odd one.
template <int kRowTiles>
struct RowShare {
  u32x4 wide[kRowTiles / 2 > 0 ? kRowTiles / 2 : 1];
  u32x2 narrow;
};

// How a thread moves its share: offsets from the slab's first byte in memory and in LDS. Eight
// lanes take eight rows, four of these 32 or 64 consecutive bytes of each row: stores to LDS then
// fill all banks. Rows past the last are read as the last: a predicate would cost the wave a wait
// for every load, and what comes of them is never stored.
template <int kRowTiles>
struct RowMover {
  u32 from_wide[kRowTiles / 2 > 0 ? kRowTiles / 2 : 1], from_narrow;
  u32 to_wide, to_narrow;

  RADIANCE_DEVICE explicit RowMover(const GemmParams& p) {
    const u32 t = thread_index();
    const u32 stride = static_cast<u32>(p.slabs) * kSlabK;
    const u32 last = static_cast<u32>(p.m) - 1;
    const u32 row = t % 8 + t / 64 * 8;
    const u32 chunk = t / 8 % 8;
    for (int i = 0; i < kRowTiles / 2; ++i) {
      const u32 r = row + static_cast<u32>(i) * 32;
      from_wide[i] = (r < last ? r : last) * stride + chunk * 16;
    }
    to_wide = row / 16 * kRowTileBytes + chunk * 256 + row % 16 * 16;
    const u32 narrow_row = t % 8 + t / 128 * 8;
    const u32 eight = t / 8 % 16;
    const u32 r = narrow_row + kRowTiles / 2 * 32;
    from_narrow = (r < last ? r : last) * stride + eight * 8;
    to_narrow =
        kRowTiles / 2 * 2 * kRowTileBytes + eight / 2 * 256 + narrow_row * 16 + eight % 2 * 8;
  }

  RADIANCE_DEVICE void load(GlobalBytes slab, RowShare<kRowTiles>& share) {
    for (int i = 0; i < kRowTiles / 2; ++i) share.wide[i] = load_at<u32x4>(slab, from_wide[i]);
    if (kRowTiles % 2 != 0) share.narrow = load_at<u32x2>(slab, from_narrow);
  }

  RADIANCE_DEVICE void store(u8* buffer, const RowShare<kRowTiles>& share) const {
    for (int i = 0; i < kRowTiles / 2; ++i) {
      *reinterpret_cast<u32x4*>(buffer + to_wide + i * 2 * kRowTileBytes) = share.wide[i];
    }
    if (kRowTiles % 2 != 0) *reinterpret_cast<u32x2*>(buffer + to_narrow) = share.narrow;
  }
};

template <DecodeConfig kConfig>
RADIANCE_DEVICE void decode(const GemmParams& p) {
  constexpr int kRowTiles = kConfig.row_tiles;
  constexpr int kFolds = kConfig.folds;
  constexpr PipelineAblation kAblation = kConfig.ablation;
  constexpr u32 kBufferBytes = kRowTiles * kRowTileBytes;
  RADIANCE_SHARED static u8 rows[(kAblation.one_buffer ? 1 : 2) * kBufferBytes]
      __attribute__((aligned(16)));

  const u32 lane = thread_index() % kWave;
  const u32 own_tile = block_x() * kWaves + wave_index();
  const u32 last_tile = static_cast<u32>(p.tiles) - 1;
  const u32 tile = own_tile < last_tile ? own_tile : last_tile;
  const u32 parts = kConfig.split ? __builtin_amdgcn_readfirstlane(p.parts) : 1;
  const u32 slabs = static_cast<u32>(p.slabs);
  const u32 begin = kConfig.split ? slabs * block_y() / parts : 0;
  const u32 end = kConfig.split ? slabs * (block_y() + 1) / parts : slabs;

  GlobalBytes codes = global_bytes(p.codes) + (static_cast<i64>(tile) * slabs + begin) * kTileBytes;
  GlobalBytes scales =
      global_bytes(p.scales) + (static_cast<i64>(tile) * slabs + begin) * (kTileN * kFolds * 2);
  GlobalBytes xq = global_bytes(p.xq) + static_cast<i64>(begin) * kSlabK;
  RowMover<kRowTiles> mover(p);
  u32 code_offset = lane * (kAblation.transposed_loads ? 8 : 16),
      scale_offset = lane % 16 * (kFolds * 2);

  RowShare<kRowTiles> share;
  u32x4 words[2];
  ScaleRun<kFolds> scale_run;
  const auto load_slab = [&] {
    keep_scalar(xq);
    keep_scalar(codes);
    keep_scalar(scales);
    // Loads return in order: what is used first comes first.
    scale_run = load_at<ScaleRun<kFolds>>(scales, scale_offset);
    schedule_barrier();
    mover.load(xq, share);
    if (kAblation.transposed_loads) {
#pragma unroll
      for (int i = 0; i < 2; ++i) {
        words[i].lo = load_transposed(codes, code_offset, i * (kTileBytes / 2));
        words[i].hi = load_transposed(codes, code_offset, i * (kTileBytes / 2) + kTileBytes / 4);
      }
      return;
    }
    words[0] = load_at<u32x4>(codes, code_offset);
    words[1] = load_at<u32x4>(codes, code_offset, kTileBytes / 2);
  };
  const auto arrive = [] { kAblation.whole_barriers ? lds_barrier() : lds_arrive(); };
  const auto await = [] {
    if (!kAblation.whole_barriers) lds_await();
  };

  f32x8 sum[kRowTiles][1] = {};
  u32 buffer = 0;
  load_slab();
  mover.store(rows, share);
  arrive();
  for (u32 slab = begin; slab < end; ++slab) {
    u32x2 weights[kSteps];
#pragma unroll
    for (int step = 0; step < kSteps; ++step) {
      const u32 word = words[step / 4][step % 4];
      weights[step] = unpack_signed(word);
    }
    f32x2 scale[kFolds];
#pragma unroll
    for (int fold = 0; fold < kFolds; ++fold) {
      scale[fold] = f32x2{scale_run.value(fold), scale_run.value(fold)};
      // Two neighbouring registers: the sums' multiply-adds can then be issued in pairs.
      asm("" : "+v"(scale[fold]));
    }
    schedule_barrier();
    // The last slab loads itself again.
    const u32 step_on = slab + 1 < end ? 1 : 0;
    codes += step_on * kTileBytes;
    scales += step_on * (kTileN * kFolds * 2);
    xq += step_on * kSlabK;
    load_slab();
    await();

    const u8* operands = rows + buffer + lane * 16;
#pragma unroll
    for (int i = 0; i < kRowTiles; ++i) {
      constexpr int kPairs = kSteps / 2 / kFolds;
#pragma unroll
      for (int fold = 0; fold < kFolds; ++fold) {
        f32x8 group = {};
#pragma unroll
        for (int pair = fold * kPairs; pair < (fold + 1) * kPairs; ++pair) {
          const u32x4 a =
              *reinterpret_cast<const u32x4*>(operands + i * kRowTileBytes + pair * 512);
          group = wmma(first_step(a), weights[2 * pair], group);
          group = wmma(second_step(a), weights[2 * pair + 1], group);
        }
#pragma unroll
        for (int r = 0; r < 8; ++r) {
          sum[i][0][r] = __builtin_fmaf(group[r], scale[fold][r % 2], sum[i][0][r]);
        }
      }
    }
    if (kAblation.one_buffer) {
      lds_barrier();
    } else {
      buffer ^= kBufferBytes;
    }
    mover.store(rows + buffer, share);
    arrive();
  }
  await();

  if (kConfig.split) {
    if (!reduce_split<kRowTiles>(p, block_x(), block_y(), parts, sum)) return;
  }
  if (own_tile > last_tile) return;
  store_output<false>(p, {0, static_cast<i32>(tile * kTileN)}, sum, 1.0f / kSignedUnit);
}

}  // namespace radiance::gfx1201
