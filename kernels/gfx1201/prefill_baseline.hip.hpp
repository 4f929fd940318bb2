// Prefill as it was before prefill.hip.hpp: 64 k of 256 rows and 64 or 128 features in LDS, rows of
// 64 bytes and 8 of padding, the weights as e4m3 bytes.
//
// The sums of a slab of 64 stay in the registers of one row tile and are folded into the running
// sums before the next one, which reads the same weight fragments: they are read once and kept.
// With group_fold all tiles' sums of a group of 128 are kept apart instead: half the folding for
// twice the registers.
#pragma once

#include "kernels/gfx1201/epilogue.hip.hpp"
#include "kernels/gfx1201/place.hip.hpp"
#include "kernels/gfx1201/unpack.hip.hpp"
#include "kernels/gfx1201/wmma.hip.hpp"

namespace radiance::gfx1201 {

template <PrefillBaselineConfig kConfig>
RADIANCE_DEVICE void prefill_baseline(const GemmParams& p) {
  constexpr int kColumnTiles = kConfig.column_tiles;
  constexpr Ablation kAblation = kConfig.ablation;
  constexpr int kStageK = kPrefillBaselineK;
  constexpr int kStageSteps = kStageK / kStepK;
  constexpr u32 kRowBytes = kStageK + kLdsPadding;
  constexpr int kTiles = kPrefillColumnWaves * kColumnTiles;
  constexpr int kRowLoads = kPrefillM * kStageK / 16 / kThreads;
  constexpr int kWords = kTiles * kTileN * kStageK / 8 / kThreads;  // 2 or 4 of a feature's codes
  constexpr u32 kTileThreads = kTileN * kStageK / 8 / kWords;
  RADIANCE_SHARED static u8 shared[(kPrefillM + kTiles * kTileN) * kRowBytes]
      __attribute__((aligned(16)));
  u8* const shared_weights = shared + kPrefillM * kRowBytes;

  const u32 t = thread_index(), lane = t % kWave, wave = wave_index();
  const BlockPlace place = prefill_place(p, prefill_n(kColumnTiles));
  const i32 row0 = static_cast<i32>(place.row * kPrefillM);
  const u32 slabs = static_cast<u32>(p.slabs);
  const u32 tile0 = place.column * kTiles;
  const u32 last_tile = static_cast<u32>(p.tiles) - 1;

  GlobalBytes xq = global_bytes(p.xq) + static_cast<i64>(row0) * slabs * kSlabK;
  const u32 last_row = static_cast<u32>(p.m - row0) - 1;
  u32 row_offset[kRowLoads];
#pragma unroll
  for (int i = 0; i < kRowLoads; ++i) {
    const u32 row = t / 4 + static_cast<u32>(i) * (kThreads / 4);
    row_offset[i] = (row < last_row ? row : last_row) * slabs * kSlabK + t % 4 * 16;
  }
  u8* const put_row = shared + t / 4 * kRowBytes + t % 4 * 16;

  const u32 staged = t / kTileThreads;
  const u32 staged_tile = tile0 + staged < last_tile ? tile0 + staged : last_tile;
  GlobalBytes codes = global_bytes(p.codes) + static_cast<i64>(tile0) * slabs * kTileBytes;
  const u32 word = t % kTileThreads * kWords;  // of half a tile
  u32 code_offset = (staged_tile - tile0) * slabs * kTileBytes + word * 4;
  u8* const put_weights = shared_weights + (staged * kTileN + word / 4 % 16) * kRowBytes +
                          word / 64 * 16 + word % 4 / 2 * 32;

  // The next stage of the codes, half a tile: each wave a part of one tile.
  constexpr u32 kPrefetchWaves = kWaves / kTiles;  // to a tile
  constexpr u32 kLine = 128, kPrefetchLines = kTileBytes / 2 / kPrefetchWaves / kLine;
  const u32 prefetch_tile = tile0 + wave % kTiles;
  const u32 prefetch_offset =
      ((prefetch_tile < last_tile ? prefetch_tile : last_tile) - tile0) * slabs * kTileBytes +
      kTileBytes / 2 + wave / kTiles * (kPrefetchLines * kLine);

  const u32 wave_tile = wave % kPrefillColumnWaves * kColumnTiles;
  GlobalBytes scales = global_bytes(p.scales) + static_cast<i64>(tile0) * slabs * (kTileN * 2);
  u32 scale_offset[kColumnTiles];
#pragma unroll
  for (int j = 0; j < kColumnTiles; ++j) {
    const u32 tile = tile0 + wave_tile + static_cast<u32>(j);
    scale_offset[j] =
        ((tile < last_tile ? tile : last_tile) - tile0) * slabs * (kTileN * 2) + lane % 16 * 2;
  }

  const u8* const get_rows =
      shared + (wave / kPrefillColumnWaves * (kPrefillRowTiles * kTileM) + lane % 16) * kRowBytes +
      lane / 16 * 8;
  const u8* const get_weights =
      shared_weights + (wave_tile * kTileN + lane % 16) * kRowBytes + lane / 16 * 8;

  u16 scale_bits[kColumnTiles];
  WordRun<kWords> words;
  u32x4 rows[kRowLoads];
  const auto load_scales = [&] {
#pragma unroll
    for (int j = 0; j < kColumnTiles; ++j) {
      const u32 tile = tile0 + wave_tile + static_cast<u32>(j);
      scale_bits[j] =
          kAblation.predicate && tile > last_tile ? u16{0} : load_at<u16>(scales, scale_offset[j]);
    }
  };
  const auto load_stage = [&] {
    keep_scalar(codes);
    keep_scalar(xq);
    keep_scalar(scales);
    if (!kAblation.late_scale) load_scales();
#pragma unroll
    for (int i = 0; i < kRowLoads; ++i) {
      const u32 row = t / 4 + static_cast<u32>(i) * (kThreads / 4);
      rows[i] = kAblation.predicate && row > last_row ? u32x4{} : load_at<u32x4>(xq, row_offset[i]);
    }
    words = kAblation.predicate && tile0 + staged > last_tile
                ? WordRun<kWords>{}
                : load_at<WordRun<kWords>>(codes, code_offset);
  };
  u32 stage = 0;
  const u32 stages = slabs * (kSlabK / kStageK);
  const auto next_stage = [&] {
    ++stage;
    // With register_prefetch the last stage loads itself again.
    const u32 step_on = kAblation.register_prefetch && stage == stages ? 0 : 1;
    xq += step_on * kStageK;
    codes += step_on * (kTileBytes / 2);
    scales += step_on * (stage % 2 == 0 ? kTileN * 2 : 0);
  };

  f32x8 sum[kPrefillRowTiles][kColumnTiles] = {};
  // The sums of the group so far, of all tiles or of one row tile.
  f32x8 part[kConfig.group_fold ? kPrefillRowTiles : 1][kColumnTiles] = {};
  const auto fold = [&](int i, const float (&scale)[kColumnTiles]) {
#pragma unroll
    for (int j = 0; j < kColumnTiles; ++j) {
      const f32x8 add = part[kConfig.group_fold ? i : 0][j];
#pragma unroll
      for (int r = 0; r < 8; ++r) {
        sum[i][j][r] = kAblation.no_scale ? sum[i][j][r] + add[r]
                                          : __builtin_fmaf(add[r], scale[j], sum[i][j][r]);
      }
    }
  };

  if (kAblation.register_prefetch) load_stage();
#pragma unroll 1
  while (stage < stages) {
#pragma unroll
    for (int in_group = 0; in_group < (kConfig.group_fold ? 2 : 1); ++in_group) {
      if (!kAblation.register_prefetch) load_stage();
      if (kAblation.prefetch) {
        __builtin_amdgcn_s_prefetch_data((const void*)(codes + prefetch_offset),
                                         kPrefetchLines - 1);
      }
      schedule_barrier();
      float scale[kColumnTiles];
      const auto convert_scales = [&] {
#pragma unroll
        for (int j = 0; j < kColumnTiles; ++j) {
          scale[j] = static_cast<float>(__builtin_bit_cast(_Float16, scale_bits[j]));
        }
      };
      if (!kAblation.late_scale) convert_scales();
      u32x2 bytes[kWords];
#pragma unroll
      for (int w = 0; w < kWords; ++w) {
        bytes[w] =
            kAblation.no_unpack ? u32x2{words.word[w], words.word[w]} : unpack_table(words.word[w]);
        if (kAblation.no_lds) continue;
        *reinterpret_cast<u32x2*>(put_weights + w / 2 * 32 + w % 2 * 8) = bytes[w];
      }
#pragma unroll
      for (int i = 0; i < kRowLoads; ++i) {
        u8* const put = put_row + static_cast<u32>(i) * (kThreads / 4) * kRowBytes;
        *reinterpret_cast<u32x2*>(put) = rows[i].lo;
        *reinterpret_cast<u32x2*>(put + 8) = rows[i].hi;
      }
      lds_barrier();
      if (kAblation.late_scale) {
        load_scales();
        schedule_barrier();
        convert_scales();
      }
      const bool last_of_group = !kConfig.group_fold || in_group == 1;
      next_stage();
      if (kAblation.register_prefetch) load_stage();
      if (kAblation.priority) __builtin_amdgcn_s_setprio(1);

      u32x2 weights[kColumnTiles][kStageSteps];
      const auto load_weights = [&] {
#pragma unroll
        for (int j = 0; j < kColumnTiles; ++j) {
#pragma unroll
          for (int step = 0; step < kStageSteps; ++step) {
            weights[j][step] =
                kAblation.no_lds
                    ? bytes[(j + step) % kWords]
                    : *reinterpret_cast<const u32x2*>(
                          get_weights + static_cast<u32>(j * kTileN) * kRowBytes + step * kStepK);
          }
        }
      };
      load_weights();
#pragma unroll
      for (int i = 0; i < kPrefillRowTiles; ++i) {
        const int at = kConfig.group_fold ? i : 0;
        if (kAblation.reread_weights && i > 0) {
          asm volatile("" ::: "memory");  // or the compiler would keep them
          load_weights();
        }
        if (!kConfig.group_fold || in_group == 0) {
#pragma unroll
          for (int j = 0; j < kColumnTiles; ++j) part[at][j] = f32x8{};
        }
#pragma unroll
        for (int step = 0; step < kStageSteps; ++step) {
          const u32x2 a = *reinterpret_cast<const u32x2*>(
              get_rows + static_cast<u32>(i * kTileM) * kRowBytes + step * kStepK);
#pragma unroll
          for (int j = 0; j < kColumnTiles; ++j)
            part[at][j] = wmma(a, weights[j][step], part[at][j]);
        }
        if (last_of_group) fold(i, scale);
      }
      if (kAblation.priority) __builtin_amdgcn_s_setprio(0);
      lds_barrier();
    }
  }

  const TilePlace at = {
      row0 + static_cast<i32>(wave / kPrefillColumnWaves) * kPrefillRowTiles * kTileM,
      static_cast<i32>((tile0 + wave_tile) * kTileN)};
  if (kAblation.ragged_epilogue) {
    store_ragged<kAblation.cut_bf16>(p, at, sum, 1.0f / kTableUnit,
                                     reinterpret_cast<float*>(shared) + wave * (kTileM * kTileN));
    return;
  }
  store_block<prefill_n(kColumnTiles), kAblation.cut_bf16>(
      p, row0, static_cast<i32>(tile0) * kTileN, wave, at, sum, 1.0f / kTableUnit, shared);
}

}  // namespace radiance::gfx1201
