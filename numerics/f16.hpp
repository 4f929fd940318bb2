// IEEE binary16 (fp16), as its bit pattern.
#pragma once

#include "numerics/small_float.hpp"

namespace radiance {

using F16Format = SmallFloat<5, 10, Overflow::kInfinity, 0x7bff>;

// Exact, NaN payloads kept and quieted.
RADIANCE_HOST_DEVICE constexpr float f16_to_f32(u16 h) {
  const u32 sign = static_cast<u32>(h & 0x8000u) << 16;
  const u32 magnitude = h & 0x7fffu;
  if (magnitude >= 0x7c00u) {
    const u32 payload = (magnitude & 0x3ffu) << 13;
    return float_from_bits(sign | 0x7f800000u | payload | (payload ? 0x400000u : 0u));
  }
  return float_from_bits(sign | float_bits(F16Format::decode_magnitude(magnitude)));
}

// Round to nearest even; overflow to infinity; NaN stays NaN (quiet, upper payload kept).
RADIANCE_HOST_DEVICE constexpr u16 f32_to_f16(float x) {
  const u32 bits = float_bits(x);
  const u32 sign = (bits >> 16) & 0x8000u;
  const u32 magnitude = bits & 0x7fffffffu;
  if (magnitude > 0x7f800000u) {
    return static_cast<u16>(sign | 0x7e00u | ((magnitude >> 13) & 0x3ffu));
  }
  return static_cast<u16>(sign | F16Format::encode_magnitude(x));
}

RADIANCE_HOST_DEVICE constexpr bool f16_is_finite(u16 h) { return (h & 0x7c00u) != 0x7c00u; }

}  // namespace radiance
