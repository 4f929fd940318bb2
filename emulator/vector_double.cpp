// VALU: f64 arithmetic.
#include "emulator/vector_ops.hpp"

namespace radiance::emulator {
namespace {

double add(double a, double b) { return a + b; }
double multiply(double a, double b) { return a * b; }
double fma(double a, double b, double c) { return __builtin_fma(a, b, c); }
double ceil(double a) { return std::ceil(a); }
double floor(double a) { return std::floor(a); }
double trunc(double a) { return std::trunc(a); }
double nearest(double a) { return round_even(a); }
double fraction(double a) { return fract(a); }
double scale(double x, int32_t n) { return std::ldexp(x, n); }
double mantissa(double x) {
  if (x == 0 || !std::isfinite(x)) return x;
  int exponent = 0;
  return std::frexp(x, &exponent);
}
int32_t exponent(double x) {
  if (x == 0 || !std::isfinite(x)) return 0;
  int e = 0;
  std::frexp(x, &e);
  return e;
}

constexpr Opcode f64(std::string_view mnemonic, Handler handler) {
  return valu(mnemonic, handler, kNoFlags, kAllF64);
}
constexpr std::array<ConstantType, 4> kScale = {ConstantType::kF64, ConstantType::k32};

constexpr Opcode kOpcodes[] = {
    f64("v_add_f64", k2<F64, add>),
    f64("v_mul_f64", k2<F64, multiply>),
    f64("v_fma_f64", k3<F64, fma>),
    f64("v_min_num_f64", k2<F64, min_num<double>>),
    f64("v_max_num_f64", k2<F64, max_num<double>>),
    f64("v_minimum_f64", k2<F64, minimum<double>>),
    f64("v_maximum_f64", k2<F64, maximum<double>>),
    f64("v_ceil_f64", k1<F64, ceil>),
    f64("v_floor_f64", k1<F64, floor>),
    f64("v_trunc_f64", k1<F64, trunc>),
    f64("v_rndne_f64", k1<F64, nearest>),
    f64("v_fract_f64", k1<F64, fraction>),
    valu("v_ldexp_f64", map2<F64, F64, I32, scale>, kNoFlags, kScale),
    f64("v_frexp_mant_f64", k1<F64, mantissa>),
    f64("v_frexp_exp_i32_f64", map1<I32, F64, exponent>),
};

}  // namespace

std::span<const Opcode> vector_double_opcodes() { return kOpcodes; }

}  // namespace radiance::emulator
