// More than 64 rows: a workgroup has 256 rows by 64 or 128 features, its waves 64 rows by 32 or 64.
//
// Rows and unpacked weights are staged in LDS in the order of the matrix unit's operands:
// [tile][pair of steps][lane][16 bytes]. A wave's read of 16 bytes a lane is then one run of 512
// bytes, free of bank conflicts without padding, and all addresses are one register and a constant.
//
// The sums of a slab (or half a slab) stay in few registers, the tiles of one row tile, and join
// the running sums with one multiply-add each. Two of these are issued as one where the scale is
// held in two registers. With 128 k in LDS there is one multiply-add for 8 steps, with 64 k one for
// 4, but the fragments of the weights take half the registers, so that 128 features fit.
#pragma once

#include "kernels/gfx1201/epilogue.hip.hpp"
#include "kernels/gfx1201/place.hip.hpp"
#include "kernels/gfx1201/row_stage.hip.hpp"
#include "kernels/gfx1201/unpack.hip.hpp"
#include "kernels/gfx1201/wmma.hip.hpp"

namespace radiance::gfx1201 {

template <PrefillConfig kConfig>
RADIANCE_DEVICE void prefill(const GemmParams& p) {
  constexpr int kColumnTiles = kConfig.column_tiles;
  constexpr int kStageK = kConfig.stage_k;
  constexpr int kStages = kSlabK / kStageK;  // of a slab
  constexpr int kFolds = kConfig.folds;
  constexpr int kStageFolds = kFolds > kStages ? kFolds / kStages : 1;  // scales of a stage
  constexpr int kPairs = kStageK / (2 * kStepK);
  constexpr int kTiles = kPrefillColumnWaves * kColumnTiles;
  constexpr int kWeightChunks = kTiles * kTileN * kStageK / 2 / 16 / kThreads;
  constexpr u32 kTileStage = kTileM * kStageK;  // bytes of a tile in LDS, of rows or weights
  static_assert(kWeightChunks == 1);
  RADIANCE_SHARED static u8 shared[(kPrefillM / kTileM + kTiles) * kTileStage]
      __attribute__((aligned(16)));
  u8* const shared_weights = shared + kPrefillM / kTileM * kTileStage;

  const u32 t = thread_index(), lane = t % kWave, wave = wave_index();
  const BlockPlace place = prefill_place(p, prefill_n(kColumnTiles));
  const i32 row0 = static_cast<i32>(place.row * kPrefillM);
  const u32 slabs = static_cast<u32>(p.slabs);
  const u32 tile0 = place.column * kTiles;
  const u32 last_tile = static_cast<u32>(p.tiles) - 1;

  GlobalBytes xq = global_bytes(p.xq) + static_cast<i64>(row0) * slabs * kSlabK;
  RowStage<kStageK> row_stage(p, row0, shared);

  // Weights: sixteen bytes are two pairs of steps of a tile.
  constexpr u32 kThreadsOfTile = kTileN * kStageK / 2 / 16;
  const u32 staged = t / kThreadsOfTile;
  const u32 staged_tile = tile0 + staged < last_tile ? tile0 + staged : last_tile;
  GlobalBytes codes = global_bytes(p.codes) + static_cast<i64>(tile0) * slabs * kTileBytes;
  u32 code_offset = (staged_tile - tile0) * slabs * kTileBytes + t % kThreadsOfTile * 16;
  u8* const put_weights =
      shared_weights + staged * kTileStage + t % kThreadsOfTile / kWave * (2 * 512) + lane * 16;

  // Scales of this wave's features.
  const u32 wave_tile = wave % kPrefillColumnWaves * kColumnTiles;
  GlobalBytes scales =
      global_bytes(p.scales) + static_cast<i64>(tile0) * slabs * (kTileN * kFolds * 2);
  u32 scale_offset[kColumnTiles];
#pragma unroll
  for (int j = 0; j < kColumnTiles; ++j) {
    const u32 tile = tile0 + wave_tile + static_cast<u32>(j);
    scale_offset[j] =
        ((tile < last_tile ? tile : last_tile) - tile0) * slabs * (kTileN * kFolds * 2) +
        lane % 16 * (kFolds * 2);
  }

  const u8* const get_rows =
      shared + wave / kPrefillColumnWaves * (kPrefillRowTiles * kTileStage) + lane * 16;
  const u8* const get_weights = shared_weights + wave_tile * kTileStage + lane * 16;

  f32x8 sum[kPrefillRowTiles][kColumnTiles] = {};
  const auto arrive = [] {
    if (!kConfig.ablation.whole_barriers) lds_arrive();
  };
  const auto await = [] { kConfig.ablation.whole_barriers ? lds_barrier() : lds_await(); };
  arrive();
  for (u32 slab = 0; slab < slabs; ++slab) {
    ScaleRun<kFolds> scale_run[kColumnTiles];
    f32x2 scale[kColumnTiles][kStageFolds];
#pragma unroll
    for (int stage = 0; stage < kStages; ++stage) {
      if (stage == 0) {
#pragma unroll
        for (int j = 0; j < kColumnTiles; ++j)
          scale_run[j] = load_at<ScaleRun<kFolds>>(scales, scale_offset[j]);
      }
      const u32x4 words = load_at<u32x4>(codes, code_offset, stage * (kTileBytes / kStages));
      u32x4 rows[RowStage<kStageK>::kLoads];
      row_stage.load(xq, stage, rows);
      schedule_barrier();
      u32x4 operands[2];
#pragma unroll
      for (int pair = 0; pair < 2; ++pair) {
        const u32x2 first = unpack_signed(words[2 * pair]);
        const u32x2 second = unpack_signed(words[2 * pair + 1]);
        operands[pair] = __builtin_shufflevector(first, second, 0, 1, 2, 3);
      }
      await();  // until nobody reads the last stage
#pragma unroll
      for (int pair = 0; pair < 2; ++pair) {
        *reinterpret_cast<u32x4*>(put_weights + pair * 512) = operands[pair];
      }
      row_stage.store(rows);
      if (stage == 0 || kFolds > 1) {
#pragma unroll
        for (int j = 0; j < kColumnTiles; ++j) {
#pragma unroll
          for (int fold = 0; fold < kStageFolds; ++fold) {
            const float s = scale_run[j].value(kFolds > 1 ? stage * kStageFolds + fold : 0);
            scale[j][fold] = f32x2{s, s};
            // Two neighbouring registers: the multiply-adds can then be issued in pairs.
            asm("" : "+v"(scale[j][fold]));
          }
        }
      }
      lds_barrier();

      u32x4 weights[kColumnTiles][kPairs];
#pragma unroll
      for (int pair = 0; pair < kPairs; ++pair) {
#pragma unroll
        for (int j = 0; j < kColumnTiles; ++j) {
          weights[j][pair] = *reinterpret_cast<const u32x4*>(
              get_weights + static_cast<u32>(j) * kTileStage + pair * 512);
        }
      }
      const auto load_rows = [&](int i, u32x4(&to)[kPairs]) {
#pragma unroll
        for (int pair = 0; pair < kPairs; ++pair) {
          to[pair] = *reinterpret_cast<const u32x4*>(get_rows + static_cast<u32>(i) * kTileStage +
                                                     pair * 512);
        }
      };
      u32x4 a[2][kPairs];
      load_rows(0, a[0]);
#pragma unroll
      for (int i = 0; i < kPrefillRowTiles; ++i) {
        if (i + 1 < kPrefillRowTiles) load_rows(i + 1, a[(i + 1) % 2]);
#pragma unroll
        for (int fold = 0; fold < kStageFolds; ++fold) {
          constexpr int kFoldPairs = kPairs / kStageFolds;
          f32x8 part[kColumnTiles] = {};
#pragma unroll
          for (int pair = fold * kFoldPairs; pair < (fold + 1) * kFoldPairs; ++pair) {
#pragma unroll
            for (int j = 0; j < kColumnTiles; ++j) {
              part[j] = wmma(first_step(a[i % 2][pair]), first_step(weights[j][pair]), part[j]);
            }
#pragma unroll
            for (int j = 0; j < kColumnTiles; ++j) {
              part[j] = wmma(second_step(a[i % 2][pair]), second_step(weights[j][pair]), part[j]);
            }
          }
          schedule_barrier();
#pragma unroll
          for (int j = 0; j < kColumnTiles; ++j) {
#pragma unroll
            for (int r = 0; r < 8; ++r) {
              sum[i][j][r] = __builtin_fmaf(part[j][r], scale[j][fold][r % 2], sum[i][j][r]);
            }
          }
          schedule_barrier();
        }
      }
      arrive();
    }
    xq += kSlabK;
    codes += kTileBytes;
    scales += kTileN * kFolds * 2;
    keep_scalar(xq);
    keep_scalar(codes);
    keep_scalar(scales);
  }

  await();
  const TilePlace at = {
      row0 + static_cast<i32>(wave / kPrefillColumnWaves) * kPrefillRowTiles * kTileM,
      static_cast<i32>((tile0 + wave_tile) * kTileN)};
  store_block<prefill_n(kColumnTiles)>(p, row0, static_cast<i32>(tile0) * kTileN, wave, at, sum,
                                       1.0f / kSignedUnit, shared);
}

}  // namespace radiance::gfx1201
