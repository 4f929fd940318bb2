// OCP FP8 E5M2 ("bf8"): the upper byte of an fp16, with its infinities, NaNs and subnormals of
// 2^-16.
#pragma once

#include "numerics/small_float.hpp"

namespace radiance {

using E5m2Format = SmallFloat<5, 2, Overflow::kInfinity, 0x7b>;

inline constexpr float kE5m2Max = 57344.0f;
inline constexpr u8 kE5m2Infinity = 0x7c;
inline constexpr u8 kE5m2Nan = 0x7f;

// Round to nearest even; overflow to infinity; NaN gives 0x7f with x's sign.
RADIANCE_HOST_DEVICE constexpr u8 f32_to_e5m2(float x) {
  const u32 bits = float_bits(x);
  const u32 sign = (bits >> 24) & 0x80u;
  if ((bits & 0x7fffffffu) > 0x7f800000u) return static_cast<u8>(sign | kE5m2Nan);
  return static_cast<u8>(sign | E5m2Format::encode_magnitude(x));
}

RADIANCE_HOST_DEVICE constexpr float e5m2_to_f32(u8 b) {
  const u32 sign = static_cast<u32>(b & 0x80u) << 24;
  const u32 magnitude = b & 0x7fu;
  if (magnitude >= kE5m2Infinity) {
    const u32 payload = (magnitude & 3u) << 21;
    return float_from_bits(sign | 0x7f800000u | payload | (payload ? 0x400000u : 0u));
  }
  return float_from_bits(sign | float_bits(E5m2Format::decode_magnitude(magnitude)));
}

}  // namespace radiance
