// bfloat16, as its bit pattern: the upper half of a float.
#pragma once

#include "numerics/host_device.hpp"

namespace radiance {

RADIANCE_HOST_DEVICE constexpr float bf16_to_f32(u16 b) {
  return float_from_bits(static_cast<u32>(b) << 16);
}

// Round to nearest even; overflow to infinity; NaN stays NaN (quiet, upper payload kept).
// Unlike the AVX-512 conversion instruction, subnormal inputs are not flushed.
RADIANCE_HOST_DEVICE constexpr u16 f32_to_bf16(float x) {
  const u32 bits = float_bits(x);
  if ((bits & 0x7fffffffu) > 0x7f800000u) {
    return static_cast<u16>((bits >> 16) | 0x40u);
  }
  return static_cast<u16>((bits + 0x7fffu + ((bits >> 16) & 1u)) >> 16);
}

}  // namespace radiance
