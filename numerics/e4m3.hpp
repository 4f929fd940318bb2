// OCP FP8 E4M3FN: no infinity, one NaN magnitude (0x7f), largest finite 448, subnormals of 2^-9.
#pragma once

#include "numerics/small_float.hpp"

namespace radiance {

using E4m3Format = SmallFloat<4, 3, Overflow::kSaturate, 0x7e>;

inline constexpr float kE4m3Max = 448.0f;
inline constexpr u8 kE4m3Nan = 0x7f;

// Round to nearest even, saturating at +-448 (infinities too); NaN gives 0x7f with x's sign.
RADIANCE_HOST_DEVICE constexpr u8 f32_to_e4m3(float x) {
  const u32 bits = float_bits(x);
  const u32 sign = (bits >> 24) & 0x80u;
  if ((bits & 0x7fffffffu) > 0x7f800000u) return static_cast<u8>(sign | kE4m3Nan);
  return static_cast<u8>(sign | E4m3Format::encode_magnitude(x));
}

RADIANCE_HOST_DEVICE constexpr float e4m3_to_f32(u8 b) {
  const u32 sign = static_cast<u32>(b & 0x80u) << 24;
  if ((b & 0x7fu) == kE4m3Nan) return float_from_bits(sign | 0x7fc00000u);
  return float_from_bits(sign | float_bits(E4m3Format::decode_magnitude(b & 0x7fu)));
}

// The contract's activation scale of a row with largest magnitude `absmax` (finite):
// max(absmax / 448, 1 / (448 * 512)), both true fp32 divisions.
RADIANCE_HOST_DEVICE constexpr float activation_scale(float absmax) {
  constexpr float smallest = 1.0f / (448.0f * 512.0f);
  const float s = absmax / kE4m3Max;
  return s > smallest ? s : smallest;
}

}  // namespace radiance
