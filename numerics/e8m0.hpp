// OCP E8M0, the block scale of MXFP4: 2^(s - 127) for s in 0..254; 255 is NaN and refused.
#pragma once

#include "numerics/host_device.hpp"

namespace radiance {

inline constexpr u8 kE8m0Nan = 255;

// s = 0 is 2^-127, a float subnormal, exact.
RADIANCE_HOST_DEVICE constexpr float e8m0_to_f32(u8 s) {
  if (s == kE8m0Nan) return float_from_bits(0x7fc00000u);
  return float_from_bits(s == 0 ? 0x00400000u : static_cast<u32>(s) << 23);
}

}  // namespace radiance
