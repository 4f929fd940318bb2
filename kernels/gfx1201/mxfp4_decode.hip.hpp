// MXFP4, up to 64 rows: the way of decode.hip.hpp, with no scale between the products.
#pragma once

#include "kernels/gfx1201/decode.hip.hpp"
#include "kernels/gfx1201/mxfp4_unpack.hip.hpp"

namespace radiance::gfx1201 {

struct Mxfp4DecodeConfig {
  int row_tiles = 1;   // of 16 rows
  bool split = false;  // K is divided among gridDim.y workgroups
  bool folded = true;  // blocks hold the places of their tables; else s
};

template <Mxfp4DecodeConfig kConfig>
RADIANCE_DEVICE void mxfp4_decode(const Mxfp4Params& params) {
  constexpr int kRowTiles = kConfig.row_tiles;
  constexpr u32 kBufferBytes = kRowTiles * kRowTileBytes;
  RADIANCE_SHARED static u8 rows[2 * kBufferBytes] __attribute__((aligned(16)));
  RADIANCE_SHARED static u32 tables[2 * kFolds] __attribute__((aligned(8)));
  const GemmParams& p = params.gemm;

  const u32 lane = thread_index() % kWave;
  const u32 own_tile = block_x() * kWaves + wave_index();
  const u32 last_tile = static_cast<u32>(p.tiles) - 1;
  const u32 tile = own_tile < last_tile ? own_tile : last_tile;
  const u32 parts = kConfig.split ? __builtin_amdgcn_readfirstlane(p.parts) : 1;
  const u32 slabs = static_cast<u32>(p.slabs);
  const u32 begin = kConfig.split ? slabs * block_y() / parts : 0;
  const u32 end = kConfig.split ? slabs * (block_y() + 1) / parts : slabs;

  GlobalBytes codes = global_bytes(p.codes) + (static_cast<i64>(tile) * slabs + begin) * kTileBytes;
  GlobalBytes blocks =
      global_bytes(p.scales) + (static_cast<i64>(tile) * slabs + begin) * kBlockBytes;
  GlobalBytes xq = global_bytes(p.xq) + static_cast<i64>(begin) * kSlabK;
  RowMover<kRowTiles> mover(p);
  u32 code_offset = lane * 16, block_offset = lane % 16 * 4;

  RowShare<kRowTiles> share;
  u32x4 words[2];
  u32 exponents;
  const auto load_slab = [&] {
    keep_scalar(xq);
    keep_scalar(codes);
    keep_scalar(blocks);
    exponents = load_at<u32>(blocks, block_offset);
    mover.load(xq, share);
    words[0] = load_at<u32x4>(codes, code_offset);
    words[1] = load_at<u32x4>(codes, code_offset, kTileBytes / 2);
  };

  f32x8 sum[kRowTiles][1] = {};
  u32 buffer = 0;
  load_slab();
  if (kConfig.folded) fill_fold_tables(tables);
  mover.store(rows, share);
  lds_barrier();
  for (u32 slab = begin; slab < end; ++slab) {
    u32x2 table[kBlocks];
    float scale[kBlocks];
#pragma unroll
    for (int block = 0; block < kBlocks; ++block) {
      const u32 byte = block_byte(exponents, block);
      if (kConfig.folded) {
        table[block] = *reinterpret_cast<const u32x2*>(reinterpret_cast<const u8*>(tables) + byte);
      } else {
        table[block] = kUnfoldedTable;
        scale[block] = block_scale(byte);
      }
    }
    u32x2 weights[kSteps];
#pragma unroll
    for (int step = 0; step < kSteps; ++step) {
      weights[step] = unpack_e2m1(words[step / 4][step % 4], table[step / 2]);
    }
    schedule_barrier();
    // The last slab loads itself again.
    const u32 step_on = slab + 1 < end ? 1 : 0;
    codes += step_on * kTileBytes;
    blocks += step_on * kBlockBytes;
    xq += step_on * kSlabK;
    load_slab();

    const u8* operands = rows + buffer + lane * 16;
#pragma unroll
    for (int i = 0; i < kRowTiles; ++i) {
#pragma unroll
      for (int block = 0; block < kBlocks; ++block) {
        const u32x4 a = *reinterpret_cast<const u32x4*>(operands + i * kRowTileBytes + block * 512);
        f32x8 part = kConfig.folded ? sum[i][0] : f32x8{};
        part = wmma(first_step(a), weights[2 * block], part);
        part = wmma(second_step(a), weights[2 * block + 1], part);
        if (kConfig.folded) {
          sum[i][0] = part;
        } else {
#pragma unroll
          for (int r = 0; r < 8; ++r) {
            sum[i][0][r] = __builtin_fmaf(part[r], scale[block], sum[i][0][r]);
          }
        }
      }
    }
    buffer ^= kBufferBytes;
    mover.store(rows + buffer, share);
    lds_barrier();
  }

  if (kConfig.split) {
    if (!reduce_split<kRowTiles>(p, block_x(), block_y(), parts, sum)) return;
  }
  if (own_tile > last_tile) return;
  const i32 column = static_cast<i32>(tile * kTileN);
  apply_row_exponents(params, column, sum);
  store_output<false>(p, {0, column}, sum, 1.0f);
}

}  // namespace radiance::gfx1201
