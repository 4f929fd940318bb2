// MXFP4 where k is no multiple of a slab, or k or n are very large. Right, and slow: one thread an
// output feature, fp32, a block at a time. The codes are in tiles, the blocks not folded.
#include "kernels/gfx1201/epilogue.hip.hpp"
#include "kernels/gfx1201/mxfp4_unpack.hip.hpp"

namespace radiance::gfx1201 {

RADIANCE_KERNEL(kGeneralThreads) void mxfp4_general(Mxfp4GeneralParams params) {
  const GeneralParams& p = params.general;
  RADIANCE_SHARED static float x[kBlockK][kGeneralRows] __attribute__((aligned(16)));
  const i64 n = static_cast<i64>(block_x()) * kGeneralThreads + thread_index();
  const i64 column = n < p.n ? n : p.n - 1;
  const i64 m0 = static_cast<i64>(block_y()) * kGeneralRows;
  const i64 slabs = (p.k + kSlabK - 1) / kSlabK;
  const u8* const blocks = reinterpret_cast<const u8*>(p.scales);
  const int in_tile = static_cast<int>(column % kTileN);
  float total[kGeneralRows] = {};
  for (i64 k0 = 0; k0 < p.k; k0 += kBlockK) {
    lds_barrier();
    for (u32 i = thread_index(); i < kBlockK * kGeneralRows; i += kGeneralThreads) {
      const i64 k = i % kBlockK, r = i / kBlockK;
      const i64 row = m0 + r < p.m ? m0 + r : p.m - 1;
      x[k][r] = e4m3_to_f32(p.xq[row * p.k + k0 + k]);
    }
    lds_barrier();
    const i64 at = column / kTileN * slabs + k0 / kSlabK;
    const int block = static_cast<int>(k0 % kSlabK / kBlockK);
    const u32* tile = p.codes + at * (kTileBytes / 4);
    float sum[kGeneralRows] = {};
#pragma unroll 1
    for (int part = 0; part < 4; ++part) {  // eight k each: fragment_k() of two steps, two halves
      const u32 word = tile[tile_word(in_tile, 2 * block + part % 2, part / 2)];
#pragma unroll
      for (int j = 0; j < 8; ++j) {
        const float value = e2m1_to_f32(static_cast<u8>(word >> mxfp4_shift(j) & 15u));
#pragma unroll
        for (int r = 0; r < kGeneralRows; ++r) {
          sum[r] = __builtin_fmaf(x[8 * part + j][r], value, sum[r]);
        }
      }
    }
    const float scale = block_scale(blocks[at * kBlockBytes + in_tile * kBlocks + block]);
#pragma unroll
    for (int r = 0; r < kGeneralRows; ++r) total[r] = __builtin_fmaf(sum[r], scale, total[r]);
  }
  if (n >= p.n) return;
  const float bias = p.bias == nullptr ? 0.0f : load_element(p.bias, p.bias_type, n);
#pragma unroll
  for (int r = 0; r < kGeneralRows; ++r) {
    if (m0 + r >= p.m) return;
    store_element(
        p.y, p.y_type, (m0 + r) * p.ldy + n,
        __builtin_fmaf(__builtin_ldexpf(total[r], params.rows[n]), p.x_scales[m0 + r], bias));
  }
}

}  // namespace radiance::gfx1201
