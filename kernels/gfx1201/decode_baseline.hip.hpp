// Decode as it was before decode.hip.hpp: a workgroup stages a slab of 128 features and of all rows
// in LDS, rows of 128 bytes and 8 of padding, the weights as e4m3 bytes; then every wave multiplies
// its 16 features. The scales are loaded ahead of the staging, indices are clamped and not
// predicated, and without split-K the sums go straight to the output.
#pragma once

#include "kernels/gfx1201/epilogue.hip.hpp"
#include "kernels/gfx1201/split.hip.hpp"
#include "kernels/gfx1201/unpack.hip.hpp"
#include "kernels/gfx1201/wmma.hip.hpp"

namespace radiance::gfx1201 {

constexpr u32 kDecodeRowBytes = kSlabK + kLdsPadding;

template <DecodeBaselineConfig kConfig>
RADIANCE_DEVICE void decode_baseline(const GemmParams& p) {
  constexpr int kRowTiles = kConfig.row_tiles;
  constexpr Ablation kAblation = kConfig.ablation;
  constexpr int kWords = kConfig.staging_bytes / 4;
  constexpr int kLoads = kDecodeN * kSlabK / 2 / kConfig.staging_bytes / kThreads;
  constexpr u32 kUnits = kTileBytes / kConfig.staging_bytes;  // of a tile
  // Of two row tiles a thread brings 16 bytes, of an odd one 8.
  constexpr int kWideLoads = kRowTiles / 2;
  constexpr bool kNarrowLoad = kRowTiles % 2 != 0;
  RADIANCE_SHARED static u8 shared_weights[kDecodeN * kDecodeRowBytes] __attribute__((aligned(8)));
  RADIANCE_SHARED static u8 shared_rows[kRowTiles * kTileM * kDecodeRowBytes]
      __attribute__((aligned(8)));

  const u32 t = thread_index(), lane = t % kWave, wave = wave_index();
  const u32 own_tile = block_x() * kWaves + wave;
  const u32 last_tile = static_cast<u32>(p.tiles) - 1;
  const u32 tile = own_tile < last_tile ? own_tile : last_tile;
  const u32 slabs = static_cast<u32>(p.slabs);
  const u32 parts = kConfig.split ? static_cast<u32>(p.parts) : 1;
  const u32 begin = kConfig.split ? slabs * block_y() / parts : 0;
  const u32 end = kConfig.split ? slabs * (block_y() + 1) / parts : slabs;

  const u32 first_tile = block_x() * kWaves;
  // Weights: unit `t + 256 q` of the workgroup's eight tiles, some words of one feature.
  const auto unit = [&](int q) { return t + static_cast<u32>(q) * kThreads; };
  const auto unit_tile = [&](int q) { return unit(q) / kUnits; };
  u32 code_offset[kLoads], put_weights[kLoads];
#pragma unroll
  for (int q = 0; q < kLoads; ++q) {
    const u32 in_tile = unit(q) % kUnits;
    const u32 from = first_tile + unit_tile(q);
    code_offset[q] = ((from < last_tile ? from : last_tile) - first_tile) * slabs * kTileBytes +
                     in_tile * static_cast<u32>(kConfig.staging_bytes);
    const u32 word = in_tile * kWords;
    const u32 unit_lane = word / 4 % kWave, step = word / (4 * kWave) * 4 + word % 4;
    put_weights[q] = (unit_tile(q) * kTileN + unit_lane % 16) * kDecodeRowBytes + step / 2 * 32 +
                     unit_lane / 16 * 16 + step % 2 * 8;
  }
  const u32 last_row = static_cast<u32>(p.m) - 1;
  const auto chunks_of = [](int q) { return q < kWideLoads ? 8u : 16u; };
  const auto row_of = [&](int q) { return t / chunks_of(q) + static_cast<u32>(q) * 2 * kTileM; };
  u32 row_offset[kWideLoads + 1], put_rows[kWideLoads + 1];
#pragma unroll
  for (int q = 0; q <= kWideLoads; ++q) {
    const u32 chunks = chunks_of(q), bytes = kSlabK / chunks, row = row_of(q);
    row_offset[q] = (row < last_row ? row : last_row) * slabs * kSlabK + t % chunks * bytes;
    put_rows[q] = row * kDecodeRowBytes + t % chunks * bytes;
  }

  GlobalBytes codes =
      global_bytes(p.codes) + (static_cast<i64>(first_tile) * slabs + begin) * kTileBytes;
  GlobalBytes xq = global_bytes(p.xq) + static_cast<i64>(begin) * kSlabK;
  GlobalBytes scales =
      global_bytes(p.scales) + (static_cast<i64>(tile) * slabs + begin) * (kTileN * 2);
  u32 scale_offset = lane % 16 * 2;

  u16 scale_bits;
  WordRun<kWords> words[kLoads];
  u32x4 rows[kWideLoads + 1];
  u32x2 narrow_rows;
  const auto load_scale = [&] {
    scale_bits =
        kAblation.predicate && own_tile > last_tile ? u16{0} : load_at<u16>(scales, scale_offset);
  };
  const auto load_row = [&]<typename Run>(int q, Run& run) {
    run = kAblation.predicate && row_of(q) > last_row ? Run{} : load_at<Run>(xq, row_offset[q]);
  };
  const auto load_slab = [&] {
    keep_scalar(codes);
    keep_scalar(xq);
    keep_scalar(scales);
    if (!kAblation.late_scale) load_scale();
#pragma unroll
    for (int q = 0; q < kWideLoads; ++q) load_row(q, rows[q]);
    if (kNarrowLoad) load_row(kWideLoads, narrow_rows);
#pragma unroll
    for (int q = 0; q < kLoads; ++q) {
      words[q] = kAblation.predicate && first_tile + unit_tile(q) > last_tile
                     ? WordRun<kWords>{}
                     : load_at<WordRun<kWords>>(codes, code_offset[q]);
    }
  };
  const auto next_slab = [&](u32 step_on) {
    codes += step_on * kTileBytes;
    xq += step_on * kSlabK;
    scales += step_on * (kTileN * 2);
  };

  const u8* const get_weights =
      shared_weights + (wave * kTileN + lane % 16) * kDecodeRowBytes + lane / 16 * 8;
  const u8* const get_rows = shared_rows + lane % 16 * kDecodeRowBytes + lane / 16 * 8;

  f32x8 sum[kRowTiles][1] = {};
  if (kAblation.register_prefetch) load_slab();
  for (u32 slab = begin; slab < end; ++slab) {
    if (!kAblation.register_prefetch) load_slab();
    if (kAblation.prefetch) {
      const GlobalBytes next =
          codes + static_cast<i64>(tile - first_tile) * slabs * kTileBytes + kTileBytes;
      __builtin_amdgcn_s_prefetch_data((const void*)next, kTileBytes / 128 - 1);
    }
    // With more row tiles the compiler finds the better order by itself.
    if (kRowTiles == 1) schedule_barrier();
    float scale = static_cast<float>(__builtin_bit_cast(_Float16, scale_bits));
    u32x2 bytes[kLoads][kWords];
#pragma unroll
    for (int q = 0; q < kLoads; ++q) {
#pragma unroll
      for (int w = 0; w < kWords; ++w) {
        const u32 word = words[q].word[w];
        bytes[q][w] = kAblation.no_unpack ? u32x2{word, word} : unpack_table(word);
        if (kAblation.no_lds) continue;
        const u32 at = put_weights[q] + static_cast<u32>(w / 2 * 32 + w % 2 * 8);
        *reinterpret_cast<u32x2*>(shared_weights + at) = bytes[q][w];
      }
    }
#pragma unroll
    for (int q = 0; q < kWideLoads; ++q) {
      *reinterpret_cast<u32x2*>(shared_rows + put_rows[q]) = rows[q].lo;
      *reinterpret_cast<u32x2*>(shared_rows + put_rows[q] + 8) = rows[q].hi;
    }
    if (kNarrowLoad) *reinterpret_cast<u32x2*>(shared_rows + put_rows[kWideLoads]) = narrow_rows;
    lds_barrier();
    if (kAblation.late_scale) {
      load_scale();
      schedule_barrier();
      scale = static_cast<float>(__builtin_bit_cast(_Float16, scale_bits));
    }
    if (kAblation.register_prefetch) {
      next_slab(slab + 1 < end ? 1 : 0);
      load_slab();
    } else {
      next_slab(1);
    }
    if (kAblation.priority) __builtin_amdgcn_s_setprio(1);
    u32x2 weights[kSteps];
#pragma unroll
    for (int step = 0; step < kSteps; ++step) {
      weights[step] = kAblation.no_lds
                          ? bytes[step % kLoads][step / kLoads % kWords]
                          : *reinterpret_cast<const u32x2*>(get_weights + step * kStepK);
    }
#pragma unroll
    for (int i = 0; i < kRowTiles; ++i) {
      f32x8 group = {};
#pragma unroll
      for (int step = 0; step < kSteps; ++step) {
        const u32x2 a = *reinterpret_cast<const u32x2*>(
            get_rows + static_cast<u32>(i * kTileM) * kDecodeRowBytes + step * kStepK);
        group = wmma(a, weights[step], group);
      }
#pragma unroll
      for (int r = 0; r < 8; ++r) {
        sum[i][0][r] = kAblation.no_scale ? sum[i][0][r] + group[r]
                                          : __builtin_fmaf(group[r], scale, sum[i][0][r]);
      }
    }
    if (kAblation.priority) __builtin_amdgcn_s_setprio(0);
    lds_barrier();
  }

  if (kConfig.split) {
    if (!reduce_split<kRowTiles>(p, block_x(), block_y(), parts, sum)) return;
  }
  if (own_tile > last_tile) return;
  store_output<false, kAblation.cut_bf16>(p, {0, static_cast<i32>(tile * kTileN)}, sum,
                                          1.0f / kTableUnit);
}

}  // namespace radiance::gfx1201
