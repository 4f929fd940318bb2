// What v_cvt_*_fp8_* and v_cvt_*_bf8_* of gfx1201 compute, one element at a time.
//
// Documented (RDNA4's ISA, 7.6.1 and 7.6.2): rounding to nearest even; MODE.FP16_OVFL = 1 clamps
// what overflows, infinity too, to the largest finite value, 0 gives infinity (bf8) or NaN (fp8,
// which has no infinity); NaN stays NaN; stochastic rounding adds random bits and truncates.
// Assumed: these are the upper bits of the random word, added below the kept mantissa.
#pragma once

#include "numerics/e4m3.hpp"
#include "numerics/e5m2.hpp"

namespace radiance::emulator {

// fp8: e4m3. Not numerics' contract conversion, which always saturates.
constexpr u8 f32_to_fp8(float x, bool clamp_overflow) {
  const u32 bits = float_bits(x), magnitude = bits & 0x7fffffffu;
  const u32 sign = (bits >> 24) & 0x80u;
  if (magnitude > 0x7f800000u) return static_cast<u8>(sign | kE4m3Nan);
  // 464 is half way between 448 and the 480 that would be next; the tie goes down, to even.
  if (magnitude > float_bits(464.0f) && !clamp_overflow) return static_cast<u8>(sign | kE4m3Nan);
  return f32_to_e4m3(x);
}

constexpr u8 f32_to_bf8(float x, bool clamp_overflow) {
  const u8 code = f32_to_e5m2(x);
  if (clamp_overflow && (code & 0x7fu) == kE5m2Infinity) {
    return static_cast<u8>((code & 0x80u) | 0x7bu);
  }
  return code;
}

namespace detail {

// |x| truncated to the format after `random` was added below the last kept bit. The code space is
// contiguous, so a code past max_finite is the overflow.
template <class Format>
constexpr u32 stochastic_magnitude(u32 magnitude_bits, u32 random) {
  const int exponent = static_cast<int>(magnitude_bits >> 23) - 127;
  constexpr int min_exponent = 1 - Format::bias;
  if (magnitude_bits < 0x00800000u) return 0;
  if (exponent >= min_exponent) {
    constexpr int drop = 23 - Format::mantissa_bits;
    const u32 rebased = magnitude_bits - (static_cast<u32>(127 - Format::bias) << 23);
    return (rebased + (random >> (32 - drop))) >> drop;
  }
  const int drop = 23 - Format::mantissa_bits + (min_exponent - exponent);
  if (drop > 31) return 0;
  const u64 significand = (magnitude_bits & 0x7fffffu) | 0x800000u;
  return static_cast<u32>((significand + (random >> (32 - drop))) >> drop);
}

}  // namespace detail

constexpr u8 f32_to_fp8_stochastic(float x, u32 random, bool clamp_overflow) {
  const u32 bits = float_bits(x), magnitude = bits & 0x7fffffffu;
  const u32 sign = (bits >> 24) & 0x80u;
  if (magnitude > 0x7f800000u) return static_cast<u8>(sign | kE4m3Nan);
  const u32 code = detail::stochastic_magnitude<E4m3Format>(magnitude, random);
  if (code > E4m3Format::max_finite) {
    return static_cast<u8>(sign | (clamp_overflow ? E4m3Format::max_finite : kE4m3Nan));
  }
  return static_cast<u8>(sign | code);
}

constexpr u8 f32_to_bf8_stochastic(float x, u32 random, bool clamp_overflow) {
  const u32 bits = float_bits(x), magnitude = bits & 0x7fffffffu;
  const u32 sign = (bits >> 24) & 0x80u;
  if (magnitude > 0x7f800000u) return static_cast<u8>(sign | kE5m2Nan);
  const u32 code = detail::stochastic_magnitude<E5m2Format>(magnitude, random);
  if (code > E5m2Format::max_finite) {
    return static_cast<u8>(sign | (clamp_overflow ? E5m2Format::max_finite : kE5m2Infinity));
  }
  return static_cast<u8>(sign | code);
}

}  // namespace radiance::emulator
