// Float operations as the ISA defines them, on bit patterns or host floats. Small functions without
// branches that change state, so that lane loops over them vectorise.
//
// NaN: an operation with a NaN operand gives a quiet NaN; which operand's payload survives is the
// host's choice (the first), and an invalid operation gives the host's default NaN with the sign
// cleared. The ISA leaves both open; nothing may depend on them.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>

namespace radiance::emulator {

inline bool is_nan_bits(uint32_t x) { return (x & 0x7fffffffu) > 0x7f800000u; }
inline float quiet(float x) {
  const auto bits = std::bit_cast<uint32_t>(x);
  return std::bit_cast<float>(is_nan_bits(bits) ? bits | 0x400000u : bits);
}

// minNum and maxNum: the other operand where one is NaN; -0 < +0.
template <typename T>
inline T min_num(T a, T b) {
  const T both = (a < b || (a == b && std::signbit(a))) ? a : b;
  return __builtin_isnan(a) ? b : __builtin_isnan(b) ? a : both;
}
template <typename T>
inline T max_num(T a, T b) {
  const T both = (a > b || (a == b && !std::signbit(a))) ? a : b;
  return __builtin_isnan(a) ? b : __builtin_isnan(b) ? a : both;
}
// IEEE 754-2019 minimum and maximum: NaN where either is.
template <typename T>
inline T minimum(T a, T b) {
  const T both = (a < b || (a == b && std::signbit(a))) ? a : b;
  return __builtin_isnan(a) ? a : __builtin_isnan(b) ? b : both;
}
template <typename T>
inline T maximum(T a, T b) {
  const T both = (a > b || (a == b && !std::signbit(a))) ? a : b;
  return __builtin_isnan(a) ? a : __builtin_isnan(b) ? b : both;
}
template <typename T>
inline T med3_num(T a, T b, T c) {
  if (__builtin_isnan(a) || __builtin_isnan(b) || __builtin_isnan(c))
    return min_num(min_num(a, b), c);
  const T most = max_num(max_num(a, b), c);
  if (most == a) return max_num(b, c);
  if (most == b) return max_num(a, c);
  return max_num(a, b);
}

inline float round_even(float x) { return __builtin_roundevenf(x); }
inline double round_even(double x) { return __builtin_roundeven(x); }

// x - floor(x), below one; NaN of an infinity.
inline float fract(float x) {
  const float f = x - std::floor(x);
  return f >= 1.0f ? 0x1.fffffep-1f : f;
}
inline double fract(double x) {
  const double f = x - std::floor(x);
  return f >= 1.0 ? 0x1.fffffffffffffp-1 : f;
}

// To an integer toward zero, saturating; NaN gives 0.
template <typename T>
inline int32_t to_i32(T x) {
  return __builtin_isnan(x)      ? 0
         : x >= T(2147483648.0)  ? INT32_MAX
         : x <= T(-2147483648.0) ? INT32_MIN
                                 : static_cast<int32_t>(x);
}
template <typename T>
inline uint32_t to_u32(T x) {
  return x >= T(4294967296.0) ? UINT32_MAX
         : x > T(0)           ? static_cast<uint32_t>(static_cast<int64_t>(x))
                              : 0u;
}
template <typename T>
inline int32_t to_i16(T x) {
  return __builtin_isnan(x) ? 0
         : x >= T(32767)    ? 32767
         : x <= T(-32768)   ? -32768
                            : static_cast<int32_t>(x);
}
template <typename T>
inline uint32_t to_u16(T x) {
  return x >= T(65535) ? 65535u : x > T(0) ? static_cast<uint32_t>(static_cast<int32_t>(x)) : 0u;
}

// The bits of v_cmp_class: signaling NaN, quiet NaN, -inf, -normal, -denormal, -0, +0, +denormal,
// +normal, +inf. `mantissa` and `exponent` are the field widths.
template <int Mantissa, int Exponent>
inline uint32_t float_class(uint64_t bits) {
  const uint64_t m = bits & ((1ull << Mantissa) - 1);
  const uint64_t e = bits >> Mantissa & ((1ull << Exponent) - 1);
  const bool negative = bits >> (Mantissa + Exponent) & 1;
  if (e == (1ull << Exponent) - 1) {
    if (m) return m >> (Mantissa - 1) & 1 ? 1u << 1 : 1u << 0;
    return negative ? 1u << 2 : 1u << 9;
  }
  if (e) return negative ? 1u << 3 : 1u << 8;
  if (m) return negative ? 1u << 4 : 1u << 7;
  return negative ? 1u << 5 : 1u << 6;
}

// f16 from a double, rounded once to nearest even (results of f16 arithmetic that f32 cannot hold
// exactly).
inline uint16_t f16_from_double(double x) {
  const auto bits = std::bit_cast<uint64_t>(x);
  const auto sign = static_cast<uint16_t>(bits >> 48 & 0x8000);
  const uint64_t magnitude = bits & 0x7fffffffffffffff;
  if (magnitude > 0x7ff0000000000000) return sign | 0x7e00;
  // 2^16 - 2^4 and above round to infinity.
  if (magnitude >= 0x40effe0000000000) return sign | 0x7c00;
  const int exponent = static_cast<int>(magnitude >> 52) - 1023;
  if (exponent < -25) return sign;
  const uint64_t significand = (magnitude & 0xfffffffffffff) | 1ull << 52;
  // Bits that fall off: 42 for a normal result, more below 2^-14.
  const int drop = exponent >= -14 ? 42 : 42 + (-14 - exponent);
  const uint64_t kept = significand >> drop;
  const uint64_t rest = significand & ((1ull << drop) - 1);
  const uint64_t half = 1ull << (drop - 1);
  const uint64_t rounded = kept + (rest > half || (rest == half && (kept & 1)));
  // A carry into the exponent is right as it stands.
  return static_cast<uint16_t>(
      sign | (exponent >= -14 ? static_cast<uint64_t>(exponent + 14) * 1024 + rounded : rounded));
}

// a * b + c of f16 values with one rounding: the product is exact in a double, the sum is made odd
// where it is not, so that rounding it again is right.
inline uint16_t fma_f16(float a, float b, float c) {
  const double product = static_cast<double>(a) * b;
  const double addend = c;
  double sum = product + addend;
  const double kept = sum - product;
  const double error = (product - (sum - kept)) + (addend - kept);
  auto bits = std::bit_cast<uint64_t>(sum);
  if (error != 0 && !__builtin_isnan(error) && !(bits & 1)) {
    // Toward the error: up in magnitude where it has the sign of the sum.
    bits += (error > 0) == (sum > 0) ? 1 : static_cast<uint64_t>(-1);
    sum = std::bit_cast<double>(bits);
  }
  return f16_from_double(sum);
}

}  // namespace radiance::emulator
