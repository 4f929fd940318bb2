// Which block of the output a prefill workgroup has.
#pragma once

#include "kernels/gfx1201/types.hip.hpp"

namespace radiance::gfx1201 {

struct BlockPlace {
  u32 row, column;  // in blocks
};

// Workgroups start in the order of their number. Those that run together should share what they
// read: eight row blocks go through the columns side by side, so that the L2 holds their rows and a
// few columns of weights, instead of all weights passing by once a row block.
RADIANCE_DEVICE BlockPlace prefill_place(const GemmParams& p, int block_n) {
  constexpr u32 kGroup = 8;
  const u32 row_blocks = (static_cast<u32>(p.m) + kPrefillM - 1) / kPrefillM;
  const u32 column_blocks =
      (static_cast<u32>(p.n) + static_cast<u32>(block_n) - 1) / static_cast<u32>(block_n);
  const u32 first = block_x() / (kGroup * column_blocks) * kGroup;
  const u32 left = row_blocks - first;
  const u32 rows = left < kGroup ? left : kGroup;
  const u32 in_group = block_x() - first * column_blocks;
  return {first + in_group % rows, in_group / rows};
}

}  // namespace radiance::gfx1201
