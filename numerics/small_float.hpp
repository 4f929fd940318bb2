// One conversion for every small binary floating-point format used here.
//
// A format is a sign bit, ExponentBits and MantissaBits, an IEEE-like bias and gradual underflow.
// What differs between the formats is only what the top of the code space means.
#pragma once

#include "numerics/host_device.hpp"

namespace radiance {

// What a format does with values too large for it.
enum class Overflow {
  kInfinity,  // IEEE: round to infinity (fp16, bf16)
  kSaturate,  // OCP: clamp to the largest finite value (e4m3, e2m1)
};

template <int kExponentBits, int kMantissaBits, Overflow kOverflow, u32 kMaxFiniteMagnitude>
struct SmallFloat {
  static constexpr int bias = (1 << (kExponentBits - 1)) - 1;
  static constexpr int mantissa_bits = kMantissaBits;
  static constexpr int sign_shift = kExponentBits + kMantissaBits;
  static constexpr u32 magnitude_mask = (1u << sign_shift) - 1;
  static constexpr u32 max_finite = kMaxFiniteMagnitude;

  // The magnitude of a finite float (sign bit ignored), rounded to nearest even, as an unsigned
  // code; overflow per kOverflow. NaN is the caller's business.
  RADIANCE_HOST_DEVICE static constexpr u32 encode_magnitude(float x) {
    const u32 bits = float_bits(x) & 0x7fffffffu;
    const int exponent = static_cast<int>(bits >> 23) - 127;
    constexpr int min_exponent = 1 - bias;  // of the smallest normal
    u32 code = 0;
    if (exponent >= min_exponent) {
      // Rounding on the integer: a carry out of the mantissa is the next exponent, as it should be.
      constexpr int drop = 23 - kMantissaBits;
      const u32 rebased = bits - (static_cast<u32>(127 - bias) << 23);
      const u32 half = (1u << (drop - 1)) - 1 + ((rebased >> drop) & 1u);
      code = (rebased + half) >> drop;
    } else {
      // Subnormal: the code is |x| in units of 2^(min_exponent - mantissa_bits).
      const int drop = 23 - kMantissaBits + (min_exponent - exponent);
      if (drop > 24 || bits < 0x00800000u) {
        // Less than half a unit. (Exactly half, drop == 24 with an empty mantissa, ties to 0
        // below.)
        code = 0;
      } else {
        const u32 significand = (bits & 0x7fffffu) | 0x800000u;
        const u32 half = (1u << (drop - 1)) - 1 + ((drop < 24 ? significand >> drop : 0u) & 1u);
        code = (significand + half) >> drop;
      }
    }
    if (code > max_finite) {
      code = kOverflow == Overflow::kSaturate ? max_finite : max_finite + 1;
    }
    return code;
  }

  // The value of a finite magnitude code.
  RADIANCE_HOST_DEVICE static constexpr float decode_magnitude(u32 code) {
    const u32 exponent = code >> kMantissaBits;
    const u32 mantissa = code & ((1u << kMantissaBits) - 1);
    if (exponent == 0) {
      // mantissa * 2^(1 - bias - mantissa_bits): exact, the power is a normal float.
      constexpr u32 unit = static_cast<u32>(127 + 1 - bias - kMantissaBits) << 23;
      return static_cast<float>(mantissa) * float_from_bits(unit);
    }
    return float_from_bits(((exponent + 127 - bias) << 23) | (mantissa << (23 - kMantissaBits)));
  }
};

}  // namespace radiance
