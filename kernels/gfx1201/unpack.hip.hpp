// From packed nibbles to e4m3 bytes.
#pragma once

#include "kernels/gfx1201/types.hip.hpp"
#include "numerics/code_table.hpp"
#include "numerics/e4m3.hpp"

namespace radiance::gfx1201 {

// The bytes 0x00..0x0f are 0..15 times 2^-9: subnormals run straight into the first normals. So a
// zigzag nibble e = 2 t + s becomes, times 2^-8, the value t or -(t + 1) as the byte
// e + 0x81 s = 2 (t + s) + 0x80 s, and a multiply-add of 16-bit halves does two bytes at once
// without a carry between them. Seven instructions for eight codes, no correction to take back.
// The scale of 2^8 goes into the row's scale.
constexpr float kSignedUnit = 0x1p-8f;

RADIANCE_HOST_DEVICE constexpr u8 signed_byte(u32 nibble) {
  return static_cast<u8>(nibble + 0x81u * (nibble & 1u));
}
static_assert([] {
  for (u32 nibble = 0; nibble < 16; ++nibble) {
    if (e4m3_to_f32(signed_byte(nibble)) != kSignedUnit * static_cast<float>(from_zigzag(nibble))) {
      return false;
    }
  }
  return true;
}());

RADIANCE_DEVICE u32 signed_bytes(u32 nibbles) {
  const u16x2 sign = __builtin_bit_cast(u16x2, nibbles & 0x01010101u);
  const u16x2 value = __builtin_bit_cast(u16x2, nibbles & 0x0f0f0f0fu);
  return __builtin_bit_cast(u32, sign * static_cast<u16x2>(static_cast<u16>(0x81)) + value);
}

// A word's eight codes: the operand bytes of one step.
RADIANCE_DEVICE u32x2 unpack_signed(u32 word) {
  return u32x2{signed_bytes(word), signed_bytes(word >> 4)};
}

// The same by table, for a device whose matrix unit flushes e4m3 subnormals, and for the kernels
// that are built as they were before: the bytes are those of -8..7 themselves. v_perm_b32 addresses
// eight bytes, so bit 3 of the nibble chooses between two of them; only selectors 0..7 are used.
constexpr float kTableUnit = 1.0f;

struct ZigzagTable {
  u8 byte[16];
  RADIANCE_HOST_DEVICE constexpr u32 word(int i) const {
    return static_cast<u32>(byte[4 * i]) | static_cast<u32>(byte[4 * i + 1]) << 8 |
           static_cast<u32>(byte[4 * i + 2]) << 16 | static_cast<u32>(byte[4 * i + 3]) << 24;
  }
};

RADIANCE_HOST_DEVICE constexpr ZigzagTable make_zigzag_table() {
  ZigzagTable table{};
  for (int nibble = 0; nibble < 16; ++nibble) {
    table.byte[nibble] =
        kInt4CodeTable.byte[from_zigzag(static_cast<u32>(nibble)) + kSymmetricZero];
  }
  return table;
}

RADIANCE_DEVICE u32 table_bytes(u32 nibbles) {
  constexpr ZigzagTable table = make_zigzag_table();
  const u32 select = nibbles & 0x07070707u;
  const u32 low = __builtin_amdgcn_perm(table.word(1), table.word(0), select);
  const u32 high = __builtin_amdgcn_perm(table.word(3), table.word(2), select);
  const u32 mask = __builtin_amdgcn_perm(0u, 0x0000ff00u, (nibbles >> 3) & 0x01010101u);
  return (high & mask) | (low & ~mask);
}

RADIANCE_DEVICE u32x2 unpack_table(u32 word) {
  return u32x2{table_bytes(word), table_bytes(word >> 4)};
}

}  // namespace radiance::gfx1201
