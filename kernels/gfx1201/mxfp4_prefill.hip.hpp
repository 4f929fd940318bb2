// MXFP4, more than 64 rows: the tiles of prefill.hip.hpp, whose staging it shares in form, with
// every product added to the running sums at once.
#pragma once

#include "kernels/gfx1201/epilogue.hip.hpp"
#include "kernels/gfx1201/mxfp4_unpack.hip.hpp"
#include "kernels/gfx1201/place.hip.hpp"
#include "kernels/gfx1201/row_stage.hip.hpp"
#include "kernels/gfx1201/wmma.hip.hpp"

namespace radiance::gfx1201 {

struct Mxfp4PrefillConfig {
  int column_tiles = 2;  // of a wave
  int stage_k = 128;     // k in LDS at a time, 64 or 128
  bool folded = true;    // blocks hold the places of their tables; else s
};

template <Mxfp4PrefillConfig kConfig>
RADIANCE_DEVICE void mxfp4_prefill(const Mxfp4Params& params) {
  constexpr int kColumnTiles = kConfig.column_tiles;
  constexpr int kStageK = kConfig.stage_k;
  constexpr int kStages = kSlabK / kStageK;  // of a slab
  constexpr int kPairs = kStageK / kBlockK;  // of steps: a block each
  constexpr int kTiles = kPrefillColumnWaves * kColumnTiles;
  constexpr u32 kTileStage = kTileM * kStageK;  // bytes of a tile in LDS, of rows or weights
  static_assert(kTiles * kTileN * kStageK / 2 / 16 == kThreads);
  RADIANCE_SHARED static u8 shared[(kPrefillM / kTileM + kTiles) * kTileStage]
      __attribute__((aligned(16)));
  RADIANCE_SHARED static u32 tables[2 * kFolds] __attribute__((aligned(8)));
  u8* const shared_weights = shared + kPrefillM / kTileM * kTileStage;
  const GemmParams& p = params.gemm;

  const u32 t = thread_index(), lane = t % kWave, wave = wave_index();
  const BlockPlace place = prefill_place(p, prefill_n(kColumnTiles));
  const i32 row0 = static_cast<i32>(place.row * kPrefillM);
  const u32 slabs = static_cast<u32>(p.slabs);
  const u32 tile0 = place.column * kTiles;
  const u32 last_tile = static_cast<u32>(p.tiles) - 1;

  GlobalBytes xq = global_bytes(p.xq) + static_cast<i64>(row0) * slabs * kSlabK;
  RowStage<kStageK> row_stage(p, row0, shared);

  // Weights: sixteen bytes are two pairs of steps of a tile, two blocks of a feature.
  constexpr u32 kThreadsOfTile = kTileN * kStageK / 2 / 16;
  const u32 staged = t / kThreadsOfTile, part_of_tile = t % kThreadsOfTile / kWave;
  const u32 staged_tile = (tile0 + staged < last_tile ? tile0 + staged : last_tile) - tile0;
  GlobalBytes codes = global_bytes(p.codes) + static_cast<i64>(tile0) * slabs * kTileBytes;
  GlobalBytes blocks = global_bytes(p.scales) + static_cast<i64>(tile0) * slabs * kBlockBytes;
  u32 code_offset = staged_tile * slabs * kTileBytes + t % kThreadsOfTile * 16;
  u32 block_offset = staged_tile * slabs * kBlockBytes + lane % 16 * kBlocks + part_of_tile * 2;
  u8* const put_weights =
      shared_weights + staged * kTileStage + part_of_tile * (2 * 512) + lane * 16;

  // The blocks of this wave's features, where they are not folded.
  const u32 wave_tile = wave % kPrefillColumnWaves * kColumnTiles;
  u32 scale_offset[kColumnTiles];
#pragma unroll
  for (int j = 0; j < kColumnTiles; ++j) {
    const u32 tile = tile0 + wave_tile + static_cast<u32>(j);
    scale_offset[j] =
        ((tile < last_tile ? tile : last_tile) - tile0) * slabs * kBlockBytes + lane % 16 * kBlocks;
  }

  const u8* const get_rows =
      shared + wave / kPrefillColumnWaves * (kPrefillRowTiles * kTileStage) + lane * 16;
  const u8* const get_weights = shared_weights + wave_tile * kTileStage + lane * 16;

  if (kConfig.folded) {
    fill_fold_tables(tables);
    lds_barrier();
  }
  f32x8 sum[kPrefillRowTiles][kColumnTiles] = {};
  for (u32 slab = 0; slab < slabs; ++slab) {
#pragma unroll
    for (int stage = 0; stage < kStages; ++stage) {
      const u16 exponents = load_at<u16>(blocks, block_offset, stage * (kStageK / kBlockK));
      u32 wave_exponents[kColumnTiles];
      if (!kConfig.folded) {
#pragma unroll
        for (int j = 0; j < kColumnTiles; ++j) {
          wave_exponents[j] = load_at<u32>(blocks, scale_offset[j]);
        }
      }
      const u32x4 words = load_at<u32x4>(codes, code_offset, stage * (kTileBytes / kStages));
      u32x4 rows[RowStage<kStageK>::kLoads];
      row_stage.load(xq, stage, rows);
      schedule_barrier();
      u32x2 table[2];
#pragma unroll
      for (int pair = 0; pair < 2; ++pair) {
        table[pair] = kConfig.folded
                          ? *reinterpret_cast<const u32x2*>(reinterpret_cast<const u8*>(tables) +
                                                            block_byte(exponents, pair))
                          : kUnfoldedTable;
      }
      if (slab != 0 || stage != 0) lds_barrier();
#pragma unroll
      for (int pair = 0; pair < 2; ++pair) {
        const u32x2 first = unpack_e2m1(words[2 * pair], table[pair]);
        const u32x2 second = unpack_e2m1(words[2 * pair + 1], table[pair]);
        *reinterpret_cast<u32x4*>(put_weights + pair * 512) =
            __builtin_shufflevector(first, second, 0, 1, 2, 3);
      }
      row_stage.store(rows);
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
#pragma unroll
      for (int i = 0; i < kPrefillRowTiles; ++i) {
#pragma unroll
        for (int pair = 0; pair < kPairs; ++pair) {
          const u32x4 a = *reinterpret_cast<const u32x4*>(
              get_rows + static_cast<u32>(i) * kTileStage + pair * 512);
          f32x8 part[kColumnTiles];
#pragma unroll
          for (int j = 0; j < kColumnTiles; ++j) {
            part[j] = kConfig.folded ? sum[i][j] : f32x8{};
            part[j] = wmma(first_step(a), first_step(weights[j][pair]), part[j]);
          }
#pragma unroll
          for (int j = 0; j < kColumnTiles; ++j) {
            part[j] = wmma(second_step(a), second_step(weights[j][pair]), part[j]);
          }
#pragma unroll
          for (int j = 0; j < kColumnTiles; ++j) {
            if (kConfig.folded) {
              sum[i][j] = part[j];
              continue;
            }
            const float scale = block_scale(block_byte(wave_exponents[j], stage * kPairs + pair));
#pragma unroll
            for (int r = 0; r < 8; ++r) {
              sum[i][j][r] = __builtin_fmaf(part[j][r], scale, sum[i][j][r]);
            }
          }
        }
      }
    }
    xq += kSlabK;
    codes += kTileBytes;
    blocks += kBlockBytes;
    keep_scalar(xq);
    keep_scalar(codes);
    keep_scalar(blocks);
  }

  const TilePlace at = {
      row0 + static_cast<i32>(wave / kPrefillColumnWaves) * kPrefillRowTiles * kTileM,
      static_cast<i32>((tile0 + wave_tile) * kTileN)};
  apply_row_exponents(params, at.column, sum);
  lds_barrier();
  store_block<prefill_n(kColumnTiles)>(p, row0, static_cast<i32>(tile0) * kTileN, wave, at, sum,
                                       1.0f, shared);
}

}  // namespace radiance::gfx1201
