// OCP FP4 E2M1, the element of MXFP4: 0, 0.5, 1, 1.5, 2, 3, 4, 6 and their negatives in a nibble.
#pragma once

#include "numerics/small_float.hpp"

namespace radiance {

using E2m1Format = SmallFloat<2, 1, Overflow::kSaturate, 0x7>;

inline constexpr float kE2m1Max = 6.0f;

// Round to nearest even, saturating at +-6. NaN has no code: the caller refuses it before.
RADIANCE_HOST_DEVICE constexpr u8 f32_to_e2m1(float x) {
  const u32 sign = (float_bits(x) >> 28) & 0x8u;
  return static_cast<u8>(sign | E2m1Format::encode_magnitude(x));
}

RADIANCE_HOST_DEVICE constexpr float e2m1_to_f32(u8 nibble) {
  const u32 sign = static_cast<u32>(nibble & 0x8u) << 28;
  return float_from_bits(sign | float_bits(E2m1Format::decode_magnitude(nibble & 0x7u)));
}

}  // namespace radiance
