// From MXFP4 nibbles to e4m3 bytes, with the block's power of two folded in or not.
#pragma once

#include "kernels/gfx1201/mxfp4_geometry.hpp"
#include "kernels/gfx1201/types.hip.hpp"

namespace radiance::gfx1201 {

// The tables in LDS: 30 words, one to a bank, so that lanes that read different ones do not wait
// for each other. The caller meets at a barrier before it reads.
RADIANCE_DEVICE void fill_fold_tables(u32* shared) {
  const u32 t = thread_index();
  if (t < 2 * kFolds) shared[t] = kFoldTable.words[t];
}

// table: the magnitudes of codes 0..3 and 4..7. Of v_perm_b32's selectors only 0..7 are used: the
// others make constants or repeat signs.
RADIANCE_DEVICE u32 e2m1_bytes(u32 nibbles, u32 signs, u32x2 table) {
  return __builtin_amdgcn_perm(table.y, table.x, nibbles & 0x07070707u) | (signs & 0x80808080u);
}

// A word's eight codes: the operand bytes of one step. Eight instructions.
RADIANCE_DEVICE u32x2 unpack_e2m1(u32 word, u32x2 table) {
  return u32x2{e2m1_bytes(word, word << 4, table), e2m1_bytes(word >> 4, word, table)};
}

// The magnitudes times 1, where nothing is folded.
constexpr u32x2 kUnfoldedTable = {kFoldTable.words[2 * -kFoldMin],
                                  kFoldTable.words[2 * -kFoldMin + 1]};

// 2^(s - 127), a subnormal for s = 0.
RADIANCE_DEVICE float block_scale(u32 s) {
  const u32 bits = s << 23;
  return __builtin_bit_cast(float, bits > 0x00400000u ? bits : 0x00400000u);
}

// A block's byte of the four in a word.
RADIANCE_DEVICE u32 block_byte(u32 word, int block) { return word >> (8 * block) & 255u; }

// Multiplies a wave's sums with their features' powers of two.
template <int kRows, int kColumns>
RADIANCE_DEVICE void apply_row_exponents(const Mxfp4Params& p, i32 column,
                                         f32x8 (&sum)[kRows][kColumns]) {
#pragma unroll
  for (int j = 0; j < kColumns; ++j) {
    const i32 last = p.gemm.tiles * kTileN - 1;
    const i32 n = column + j * kTileN + static_cast<i32>(thread_index() % 16);
    const i32 exponent = p.rows[n < last ? n : last];
#pragma unroll
    for (int i = 0; i < kRows; ++i) {
#pragma unroll
      for (int r = 0; r < 8; ++r) sum[i][j][r] = __builtin_ldexpf(sum[i][j][r], exponent);
    }
  }
}

}  // namespace radiance::gfx1201
