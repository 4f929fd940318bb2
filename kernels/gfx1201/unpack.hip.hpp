// From packed nibbles to e4m3 bytes.
#pragma once

#include "kernels/gfx1201/types.hip.hpp"
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

}  // namespace radiance::gfx1201
