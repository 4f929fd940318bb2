// VALU: reciprocals, roots, exponentials, and the steps of an IEEE division.
//
// The hardware's transcendentals are approximations (1 ulp in f32); here they are rounded from a
// double, which lies within that. Which of the allowed results the chip gives is not documented:
// nothing may depend on the last bit. f64 reciprocals and roots are better here than the hardware's
// first approximation, which compiled code refines.
#include <algorithm>

#include "emulator/vector_ops.hpp"

namespace radiance::emulator {
namespace {

constexpr double kTwoPi = 6.283185307179586476925;

float to_float(double x) { return static_cast<float>(x); }

float reciprocal(float x) { return 1.0f / x; }
float square_root(float x) { return std::sqrt(x); }
float reciprocal_root(float x) { return to_float(1.0 / std::sqrt(static_cast<double>(x))); }
float exp2(float x) { return to_float(std::exp2(static_cast<double>(x))); }
float log2(float x) { return to_float(std::log2(static_cast<double>(x))); }
// Sine and cosine of an angle in revolutions, exact at its quarters.
double sine_of_revolution(double x) {
  const double quarters = 4 * (x - std::floor(x));
  const double quadrant = std::floor(quarters);
  const double angle = (quarters - quadrant) * (kTwoPi / 4);
  const double value = static_cast<int>(quadrant) & 1 ? std::cos(angle) : std::sin(angle);
  return quadrant >= 2 ? 0.0 - value : value;  // no negative zero
}
double cosine_of_revolution(double x) { return sine_of_revolution(x + 0.25); }
float sine(float x) { return std::fabs(x) > 256.0f ? 0.0f : to_float(sine_of_revolution(x)); }
float cosine(float x) { return std::fabs(x) > 256.0f ? 1.0f : to_float(cosine_of_revolution(x)); }

uint16_t reciprocal16(float x) { return f16_from_double(1.0 / static_cast<double>(x)); }
uint16_t square_root16(float x) { return f16_from_double(std::sqrt(static_cast<double>(x))); }
uint16_t reciprocal_root16(float x) {
  return f16_from_double(1.0 / std::sqrt(static_cast<double>(x)));
}
uint16_t exp2_16(float x) { return f16_from_double(std::exp2(static_cast<double>(x))); }
uint16_t log2_16(float x) { return f16_from_double(std::log2(static_cast<double>(x))); }
uint16_t sine16(float x) {
  return std::fabs(x) > 256.0f ? uint16_t{0} : f16_from_double(sine_of_revolution(x));
}
uint16_t cosine16(float x) {
  return std::fabs(x) > 256.0f ? uint16_t{0x3c00} : f16_from_double(cosine_of_revolution(x));
}

double reciprocal64(double x) { return 1.0 / x; }
double square_root64(double x) { return std::sqrt(x); }
double reciprocal_root64(double x) { return 1.0 / std::sqrt(x); }

// --- Division
// ---------------------------------------------------------------------------------------- A
// quotient n / d is computed as: div_scale both so that the refinement cannot over- or underflow,
// refine with FMAs, undo the scaling in div_fmas, and set the special cases in div_fixup.

template <typename T>
struct Format;
template <>
struct Format<float> {
  using Bits = uint32_t;
  static constexpr int kMantissa = 23, kBias = 127, kMaxExponent = 255;
  static constexpr int kScale = 64, kFarApart = 96, kTiny = 23, kUnderflow = -150;
};
template <>
struct Format<double> {
  using Bits = uint64_t;
  static constexpr int kMantissa = 52, kBias = 1023, kMaxExponent = 2047;
  static constexpr int kScale = 128, kFarApart = 768, kTiny = 53, kUnderflow = -1075;
};

template <typename T>
int exponent_field(T x) {
  using F = Format<T>;
  return static_cast<int>(std::bit_cast<typename F::Bits>(x) >> F::kMantissa &
                          static_cast<unsigned>(F::kMaxExponent));
}
template <typename T>
bool is_denormal(T x) {
  return x != 0 && exponent_field(x) == 0;
}

// s0 is the denominator s1 or the numerator s2, the one to be scaled. Whether the quotient may be
// denormal is judged by the exponents alone, also of a zero: silicon sets the flag there (the ISA
// vectors d60c83693116, 3a2ada41fe6b), although it does not matter for what div_fixup replaces.
template <typename T>
T div_scale(T s0, T s1, T s2, bool& scaled) {
  using F = Format<T>;
  const int apart = exponent_field(s2) - exponent_field(s1);
  const bool denormal_reciprocal = is_denormal(T(1) / s1);
  const bool denormal_quotient = apart <= 1 - F::kBias;
  scaled = apart >= F::kFarApart || (!is_denormal(s1) && denormal_quotient);
  if (s1 == 0 || s2 == 0) return std::numeric_limits<T>::quiet_NaN();
  if (apart >= F::kFarApart) return s0 == s1 ? std::ldexp(s0, F::kScale) : s0;
  if (is_denormal(s1)) return std::ldexp(s0, F::kScale);
  // Down, not up as the ISA document prints: this denominator has no room above.
  if (denormal_reciprocal && denormal_quotient) {
    return s0 == s1 ? std::ldexp(s0, -F::kScale) : s0;
  }
  if (denormal_reciprocal) return std::ldexp(s0, -F::kScale);
  if (denormal_quotient) return s0 == s2 ? std::ldexp(s0, F::kScale) : s0;
  if (exponent_field(s2) <= F::kTiny) return std::ldexp(s0, F::kScale);
  return s0;
}

template <typename Type>
void div_scale_lanes(const Instruction& in, Wave& wave) {
  const typename Type::Source s0(in, wave, 0);
  const typename Type::Source s1(in, wave, 1);
  const typename Type::Source s2(in, wave, 2);
  typename Type::Result d;
  uint32_t flags = 0;
  for (int i = 0; i < kLanes; ++i) {
    bool scaled = false;
    d.set(i, div_scale(s0[i], s1[i], s2[i], scaled));
    flags |= static_cast<uint32_t>(scaled) << i;
  }
  wave.set_scalar(in.dst[1], flags & wave.exec());
  d.commit(in, wave);
}

// (a * b + c) * 2^n rounded once: computed wider, with the sum made odd where it is not exact.
float fma_scaled(float a, float b, float c, int n) {
  const double product = static_cast<double>(a) * b;
  const double addend = c;
  double sum = product + addend;
  const double kept = sum - product;
  const double error = (product - (sum - kept)) + (addend - kept);
  auto bits = std::bit_cast<uint64_t>(sum);
  if (std::isfinite(sum) && error != 0 && !(bits & 1)) {
    bits += (error > 0) == (sum > 0) ? 1 : static_cast<uint64_t>(-1);
    sum = std::bit_cast<double>(bits);
  }
  return static_cast<float>(std::ldexp(sum, n));
}
double fma_scaled(double a, double b, double c, int n) {
  const double sum = std::fma(a, b, c);
  if (!std::isfinite(sum) || sum == 0) return sum;
  const double scaled = std::ldexp(sum, n);
  if (!is_denormal(scaled) || std::ldexp(scaled, -n) == sum) return scaled;
  // A denormal result: the bits that fall off must be rounded with what the FMA already dropped.
  // That matters only where they are exactly half an ulp; the sign of the FMA's error then decides.
  const double error =
      std::fma(a, b, c - sum);  // exact enough for its sign: c - sum is, near a quotient
  const double back = std::ldexp(scaled, -n);
  const double off = sum - back;
  const double ulp = std::ldexp(std::numeric_limits<double>::denorm_min(), -n);
  if (std::fabs(off) * 2 != ulp || error == 0) return scaled;
  const double toward = std::ldexp(sum + std::copysign(ulp / 4, error), n);
  return toward;
}

template <typename Type>
void div_fmas(const Instruction& in, Wave& wave) {
  using T = typename Type::Value;
  const typename Type::Source a(in, wave, 0);
  const typename Type::Source b(in, wave, 1);
  const typename Type::Source c(in, wave, 2);
  const uint32_t scaled = wave.vcc();
  typename Type::Result d;
  for (int i = 0; i < kLanes; ++i) {
    if (scaled >> i & 1) {
      const int n =
          exponent_field(c[i]) > Format<T>::kBias ? Format<T>::kScale : -Format<T>::kScale;
      d.set(i, fma_scaled(a[i], b[i], c[i], n));
    } else {
      d.set(i, std::fma(a[i], b[i], c[i]));
    }
  }
  d.commit(in, wave);
}

template <typename T>
T div_fixup(T quotient, T denominator, T numerator) {
  using F = Format<T>;
  constexpr T kInfinity = std::numeric_limits<T>::infinity();
  const bool negative = std::signbit(denominator) != std::signbit(numerator);
  const auto signed_as = [&](T x) { return std::copysign(x, negative ? T(-1) : T(1)); };
  if (__builtin_isnan(numerator)) return numerator + numerator;
  if (__builtin_isnan(denominator)) return denominator + denominator;
  const bool infinite_n = std::isinf(numerator);
  const bool infinite_d = std::isinf(denominator);
  if ((denominator == 0 && numerator == 0) || (infinite_n && infinite_d)) {
    return std::copysign(std::numeric_limits<T>::quiet_NaN(), T(-1));
  }
  if (denominator == 0 || infinite_n) return signed_as(kInfinity);
  if (infinite_d || numerator == 0) return signed_as(T(0));
  if (exponent_field(numerator) - exponent_field(denominator) < F::kUnderflow) {
    return signed_as(T(0));
  }
  if (__builtin_isnan(quotient)) return signed_as(kInfinity);
  return signed_as(quotient);
}
float div_fixup32(float q, float d, float n) { return div_fixup(q, d, n); }
double div_fixup64(double q, double d, double n) { return div_fixup(q, d, n); }
// f16 operands are exact in f32, where none of the exponent cases arises.
float div_fixup16(float q, float d, float n) { return div_fixup(q, d, n); }

// --- Range reduction of large f64 angles
// ---------------------------------------------------------------

// 53 bits of 2 / pi from a given position, scaled to their place.
constexpr uint64_t kTwoOverPi[] = {
    0xa2f9836e4e441529, 0xfc2757d1f534ddc0, 0xdb6295993c439041, 0xfe5163abdebbc561,
    0xb7246e3a424dd2e0, 0x06492eea09d1921c, 0xfe1deb1cb129a73e, 0xe88235f52ebb4484,
    0xe99c7026b45f7e41, 0x3991d639835339f4, 0x9c845f8bbdf9283b, 0x1ff897ffde05980f,
    0xef2f118b5a0a6d1f, 0x6d367ecf27cb09b7, 0x4f463f669e5fea2d, 0x7527bac7ebe5f17b,
    0x3d0739f78a5292ea, 0x6bfb5fb11f8d5d08, 0x56033046fc7b6bab,
};
constexpr int kTwoOverPiBits = 1201;  // what the hardware's table holds; further bits read as zero

double trig_preop(double x, uint32_t segment) {
  int shift = static_cast<int>(segment & 31) * 53;
  const int exponent = exponent_field(x);
  if (exponent > 1077) shift += exponent - 1077;
  uint64_t bits = 0;
  for (int i = 0; i < 53; ++i) {
    const int at = shift + i;
    const uint64_t bit =
        at < kTwoOverPiBits ? kTwoOverPi[at / 64] >> (63 - at % 64) & 1 : uint64_t{0};
    bits = bits << 1 | bit;
  }
  int scale = -53 - shift;
  if (exponent >= 1968) scale += 128;
  return std::ldexp(static_cast<double>(bits), scale);
}

constexpr Opcode trans(std::string_view mnemonic, Handler handler, ConstantType type) {
  return {mnemonic, handler, OpClass::kTranscendental, 1, kNoFlags, {type}};
}
constexpr auto k32 = ConstantType::k32;
constexpr auto k16 = ConstantType::k16;
constexpr auto kF64 = ConstantType::kF64;

// Pseudo-scalar transcendentals: an SGPR in, an SGPR out, run by the vector unit.
template <auto Op>
void scalar32(const Instruction& in, Wave& wave) {
  float x = as_float(wave.scalar(in.src[0]));
  if (in.src[0].absolute) x = std::fabs(x);
  if (in.src[0].negate) x = -x;
  float d = Op(x);
  if (in.mod.clamp) d = d > 0 ? std::min(d, 1.0f) : 0.0f;
  wave.set_scalar(in.dst[0], as_bits(d));
}
template <auto Op>
void scalar16(const Instruction& in, Wave& wave) {
  Lanes lanes;
  uint32_t bits = wave.scalar(in.src[0]) >> (in.mod.op_sel & 1 ? 16 : 0) & 0xffff;
  if (in.src[0].absolute) bits &= 0x7fff;
  if (in.src[0].negate) bits ^= 0x8000;
  for (uint32_t& lane : lanes.v) lane = bits;
  widen_f16(lanes, lanes);
  wave.set_scalar(in.dst[0], Op(as_float(lanes.v[0])));
}

constexpr Opcode kOpcodes[] = {
    trans("v_rcp_f32", k1<F32, reciprocal>, k32),
    trans("v_rcp_iflag_f32", k1<F32, reciprocal>, k32),
    trans("v_rsq_f32", k1<F32, reciprocal_root>, k32),
    trans("v_sqrt_f32", k1<F32, square_root>, k32),
    trans("v_exp_f32", k1<F32, exp2>, k32),
    trans("v_log_f32", k1<F32, log2>, k32),
    trans("v_sin_f32", k1<F32, sine>, k32),
    trans("v_cos_f32", k1<F32, cosine>, k32),
    trans("v_rcp_f16", map1<F16Bits, F16, reciprocal16>, k16),
    trans("v_rsq_f16", map1<F16Bits, F16, reciprocal_root16>, k16),
    trans("v_sqrt_f16", map1<F16Bits, F16, square_root16>, k16),
    trans("v_exp_f16", map1<F16Bits, F16, exp2_16>, k16),
    trans("v_log_f16", map1<F16Bits, F16, log2_16>, k16),
    trans("v_sin_f16", map1<F16Bits, F16, sine16>, k16),
    trans("v_cos_f16", map1<F16Bits, F16, cosine16>, k16),
    trans("v_rcp_f64", k1<F64, reciprocal64>, kF64),
    trans("v_rsq_f64", k1<F64, reciprocal_root64>, kF64),
    trans("v_sqrt_f64", k1<F64, square_root64>, kF64),
    trans("v_s_rcp_f32", scalar32<reciprocal>, k32),
    trans("v_s_rsq_f32", scalar32<reciprocal_root>, k32),
    trans("v_s_sqrt_f32", scalar32<square_root>, k32),
    trans("v_s_exp_f32", scalar32<exp2>, k32),
    trans("v_s_log_f32", scalar32<log2>, k32),
    trans("v_s_rcp_f16", scalar16<reciprocal16>, k16),
    trans("v_s_rsq_f16", scalar16<reciprocal_root16>, k16),
    trans("v_s_sqrt_f16", scalar16<square_root16>, k16),
    trans("v_s_exp_f16", scalar16<exp2_16>, k16),
    trans("v_s_log_f16", scalar16<log2_16>, k16),
    {"v_div_scale_f32", div_scale_lanes<F32>, OpClass::kVector, 2},
    {"v_div_scale_f64", div_scale_lanes<F64>, OpClass::kVector, 2, kNoFlags, kAllF64},
    valu("v_div_fmas_f32", div_fmas<F32>, kReadsVcc),
    valu("v_div_fmas_f64", div_fmas<F64>, kReadsVcc, kAllF64),
    valu("v_div_fixup_f32", k3<F32, div_fixup32>),
    valu("v_div_fixup_f64", k3<F64, div_fixup64>, kNoFlags, kAllF64),
    valu("v_div_fixup_f16", k3<F16, div_fixup16>, kNoFlags, kAll16),
    valu("v_trig_preop_f64", map2<F64, F64, U32, trig_preop>, kNoFlags, {kF64, k32}),
};

}  // namespace

std::span<const Opcode> vector_special_opcodes() { return kOpcodes; }

}  // namespace radiance::emulator
