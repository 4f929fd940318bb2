// MXFP4 on gfx1201: the packed layout, and the exponents that fold into the weight byte.
//
// A weight is e2m1 * 2^(s - 127), one s per block of 32 k. Relative to an exponent of its row, the
// power of two goes into the e4m3 operand byte, exactly for -8..6: the main loop then has no scale
// at all, and the row's power of two joins the sum at the end. The codes keep their four bits and
// the blocks their byte; they meet at the unpack, whose table of eight magnitudes is another one
// for each exponent.
//
// A weight of which some row has blocks further apart is not folded, nor is one that the general
// kernel takes: the blocks keep s, and kernels of their own multiply the sums of each block
// (slower, and exact for every s).
//
//   codes   tiles of 16 features by 128 k, as geometry.hpp says, a nibble an e2m1 code; zero past k
//   blocks  [n / 16][slab][16 features][4]: folded: 8 (e + 8), the place of the block's table;
//           else s. Zero past n and k.
//   rows    i16 [n / 16 * 16]: the power of two that the row's sums are to be multiplied with
#pragma once

#include "kernels/gfx1201/geometry.hpp"
#include "numerics/e2m1.hpp"
#include "numerics/e4m3.hpp"

namespace radiance::gfx1201 {

constexpr int kBlockK = 32;
constexpr int kBlocks = kSlabK / kBlockK;
constexpr int kBlockBytes = kTileN * kBlocks;  // of a tile

constexpr int kFoldMin = -8, kFoldMax = 6;
constexpr int kFoldMinNormal = -5;  // where the unit does not keep e4m3 subnormals
constexpr int kFolds = kFoldMax - kFoldMin + 1;

// The e4m3 bytes of the eight e2m1 magnitudes times 2^exponent, two words for each exponent.
struct FoldTable {
  u32 words[2 * kFolds];
};

RADIANCE_HOST_DEVICE constexpr float power_of_two(int exponent) {
  return float_from_bits(static_cast<u32>(exponent + 127) << 23);
}

RADIANCE_HOST_DEVICE constexpr FoldTable make_fold_table() {
  FoldTable table{};
  for (int e = kFoldMin; e <= kFoldMax; ++e) {
    for (int magnitude = 0; magnitude < 8; ++magnitude) {
      const float value = e2m1_to_f32(static_cast<u8>(magnitude)) * power_of_two(e);
      table.words[2 * (e - kFoldMin) + magnitude / 4] |= static_cast<u32>(f32_to_e4m3(value))
                                                         << (8 * (magnitude % 4));
    }
  }
  return table;
}

inline constexpr FoldTable kFoldTable = make_fold_table();

// Each byte is the magnitude times the power, exactly; from kFoldMinNormal on it is zero or normal.
static_assert([] {
  for (int e = kFoldMin; e <= kFoldMax; ++e) {
    for (int magnitude = 0; magnitude < 8; ++magnitude) {
      const u8 byte = static_cast<u8>(kFoldTable.words[2 * (e - kFoldMin) + magnitude / 4] >>
                                      (8 * (magnitude % 4)));
      if (e4m3_to_f32(byte) != e2m1_to_f32(static_cast<u8>(magnitude)) * power_of_two(e)) {
        return false;
      }
      if (e >= kFoldMinNormal && byte != 0 && byte < 8) return false;
    }
  }
  return true;
}());

// Where the code of byte j (0..7) of a step stands in its word: nibble 2 j of the first four,
// nibble 2 (j - 4) + 1 of the last.
RADIANCE_HOST_DEVICE constexpr int mxfp4_shift(int j) { return j < 4 ? 8 * j : 8 * (j - 4) + 4; }

struct Mxfp4Params {
  GemmParams gemm;  // scales: the blocks
  const __INT16_TYPE__* rows;
};

struct Mxfp4GeneralParams {
  GeneralParams general;  // codes: the tiles; scales: the blocks
  const __INT16_TYPE__* rows;
};

}  // namespace radiance::gfx1201
