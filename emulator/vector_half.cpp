// VALU: f16 arithmetic.
#include "emulator/vector_ops.hpp"

namespace radiance::emulator {
namespace {

float add(float a, float b) { return a + b; }
float subtract(float a, float b) { return a - b; }
float subtract_reversed(float a, float b) { return b - a; }
float multiply(float a, float b) { return a * b; }
float min3(float a, float b, float c) { return min_num(min_num(a, b), c); }
float max3(float a, float b, float c) { return max_num(max_num(a, b), c); }
float min_max(float a, float b, float c) { return max_num(min_num(a, b), c); }
float max_min(float a, float b, float c) { return min_num(max_num(a, b), c); }
float minimum3(float a, float b, float c) { return minimum(minimum(a, b), c); }
float maximum3(float a, float b, float c) { return maximum(maximum(a, b), c); }
float minimum_maximum(float a, float b, float c) { return maximum(minimum(a, b), c); }
float maximum_minimum(float a, float b, float c) { return minimum(maximum(a, b), c); }
float ceil(float a) { return std::ceil(a); }
float floor(float a) { return std::floor(a); }
float trunc(float a) { return std::trunc(a); }
float nearest(float a) { return round_even(a); }
// Below one in f16.
float fraction(float a) {
  const float f = a - std::floor(a);
  return f > 0x1.ffcp-1f ? 0x1.ffcp-1f : f;
}
uint16_t scale(float x, int16_t n) {
  return f16_from_double(std::ldexp(static_cast<double>(x), n));
}
float mantissa(float x) {
  if (x == 0 || !std::isfinite(x)) return x;
  int exponent = 0;
  return std::frexp(x, &exponent);
}
int16_t exponent(float x) {
  if (x == 0 || !std::isfinite(x)) return 0;
  int e = 0;
  std::frexp(x, &e);
  return static_cast<int16_t>(e);
}

uint16_t fused(float a, float b, float c) { return fma_f16(a, b, c); }
// With directed rounding, rounding twice in one direction is rounding once.
float fused_directed(float a, float b, float c) { return __builtin_fmaf(a, b, c); }

template <int S2>
void fma(const Instruction& in, Wave& wave) {
  if (wave.mode.round64() == 0) {
    map3<F16Bits, F16, F16, F16, fused, 0, 1, S2>(in, wave);
  } else {
    map3<F16, F16, F16, F16, fused_directed, 0, 1, S2>(in, wave);
  }
}

constexpr Opcode half(std::string_view mnemonic, Handler handler, uint32_t flags = kNoFlags) {
  return valu(mnemonic, handler, flags, kAll16);
}

constexpr Opcode kOpcodes[] = {
    half("v_add_f16", k2<F16, add>),
    half("v_sub_f16", k2<F16, subtract>),
    half("v_subrev_f16", k2<F16, subtract_reversed>),
    half("v_mul_f16", k2<F16, multiply>),
    half("v_fma_f16", fma<2>),
    half("v_fmac_f16", fma<kDestination>, kReadsDestination),
    half("v_fmaak_f16", fma<2>),
    half("v_fmamk_f16", fma<2>),
    half("v_min_num_f16", k2<F16, min_num<float>>),
    half("v_max_num_f16", k2<F16, max_num<float>>),
    half("v_min3_num_f16", k3<F16, min3>),
    half("v_max3_num_f16", k3<F16, max3>),
    half("v_med3_num_f16", k3<F16, med3_num<float>>),
    half("v_minmax_num_f16", k3<F16, min_max>),
    half("v_maxmin_num_f16", k3<F16, max_min>),
    half("v_minimum_f16", k2<F16, minimum<float>>),
    half("v_maximum_f16", k2<F16, maximum<float>>),
    half("v_minimum3_f16", k3<F16, minimum3>),
    half("v_maximum3_f16", k3<F16, maximum3>),
    half("v_minimummaximum_f16", k3<F16, minimum_maximum>),
    half("v_maximumminimum_f16", k3<F16, maximum_minimum>),
    half("v_ceil_f16", k1<F16, ceil>),
    half("v_floor_f16", k1<F16, floor>),
    half("v_trunc_f16", k1<F16, trunc>),
    half("v_rndne_f16", k1<F16, nearest>),
    half("v_fract_f16", k1<F16, fraction>),
    half("v_ldexp_f16", map2<F16Bits, F16, I16, scale>),
    half("v_frexp_mant_f16", k1<F16, mantissa>),
    half("v_frexp_exp_i16_f16", map1<I16, F16, exponent>),
};

}  // namespace

std::span<const Opcode> vector_half_opcodes() { return kOpcodes; }

}  // namespace radiance::emulator
