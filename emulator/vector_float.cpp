// VALU: f32 arithmetic.
#include "emulator/vector_ops.hpp"

namespace radiance::emulator {
namespace {

float add(float a, float b) { return a + b; }
float subtract(float a, float b) { return a - b; }
float subtract_reversed(float a, float b) { return b - a; }
float multiply(float a, float b) { return a * b; }
// Zero times anything is zero (DX9).
float multiply_zero(float a, float b) { return a == 0 || b == 0 ? 0.0f : a * b; }
float fma(float a, float b, float c) { return __builtin_fmaf(a, b, c); }
float fma_zero(float a, float b, float c) { return a == 0 || b == 0 ? c : __builtin_fmaf(a, b, c); }
float min2(float a, float b) { return quiet(min_num(a, b)); }
float max2(float a, float b) { return quiet(max_num(a, b)); }
float min3(float a, float b, float c) { return min2(min2(a, b), c); }
float max3(float a, float b, float c) { return max2(max2(a, b), c); }
float min_max(float a, float b, float c) { return max2(min2(a, b), c); }
float max_min(float a, float b, float c) { return min2(max2(a, b), c); }
float med3(float a, float b, float c) { return quiet(med3_num(a, b, c)); }
float minimum2(float a, float b) { return quiet(minimum(a, b)); }
float maximum2(float a, float b) { return quiet(maximum(a, b)); }
float minimum3(float a, float b, float c) { return minimum2(minimum2(a, b), c); }
float maximum3(float a, float b, float c) { return maximum2(maximum2(a, b), c); }
float minimum_maximum(float a, float b, float c) { return maximum2(minimum2(a, b), c); }
float maximum_minimum(float a, float b, float c) { return minimum2(maximum2(a, b), c); }
float ceil(float a) { return quiet(std::ceil(a)); }
float floor(float a) { return quiet(std::floor(a)); }
float trunc(float a) { return quiet(std::trunc(a)); }
float nearest(float a) { return quiet(round_even(a)); }
float fraction(float a) { return quiet(fract(a)); }

// x * 2^n, rounded once.
float scale(float x, int32_t n) { return std::ldexp(x, n); }

// The significand in [0.5, 1); zero, infinity and NaN unchanged.
float mantissa(float x) {
  if (x == 0 || !std::isfinite(x)) return quiet(x);
  int exponent = 0;
  return std::frexp(x, &exponent);
}
int32_t exponent(float x) {
  if (x == 0 || !std::isfinite(x)) return 0;
  int e = 0;
  std::frexp(x, &e);
  return e;
}

// Cube map coordinates.
float cube_id(float x, float y, float z) {
  const float ax = std::fabs(x);
  const float ay = std::fabs(y);
  const float az = std::fabs(z);
  if (az >= ax && az >= ay) return z < 0 ? 5.0f : 4.0f;
  if (ay >= ax) return y < 0 ? 3.0f : 2.0f;
  return x < 0 ? 1.0f : 0.0f;
}
float cube_ma(float x, float y, float z) {
  const float ax = std::fabs(x);
  const float ay = std::fabs(y);
  const float az = std::fabs(z);
  if (az >= ax && az >= ay) return 2.0f * z;
  return ay >= ax ? 2.0f * y : 2.0f * x;
}
float cube_sc(float x, float y, float z) {
  const float ax = std::fabs(x);
  const float ay = std::fabs(y);
  const float az = std::fabs(z);
  if (az >= ax && az >= ay) return z < 0 ? -x : x;
  if (ay >= ax) return x;
  return x < 0 ? z : -z;
}
float cube_tc(float x, float y, float z) {
  const float ax = std::fabs(x);
  const float ay = std::fabs(y);
  const float az = std::fabs(z);
  if (az >= ax && az >= ay) return -y;
  if (ay >= ax) return y < 0 ? -z : z;
  return -y;
}

// Selection by VCC or an SGPR. Undefined lanes of the side that is not taken do not matter, so it
// does its own strict checks.
void select(const Instruction& in, Wave& wave) {
  const uint32_t mask = wave.scalar(in.src[2]);
  const uint32_t exec = wave.exec();
  uint32_t undefined = 0;
  if (wave.strict) {
    StrictState& state = *wave.strict;
    if (in.src[2].is_sgpr()) state.check_sgprs(in, in.src[2].index, 1);
    for (int side = 0; side < 2; ++side) {
      const Operand& source = in.src[static_cast<size_t>(side)];
      if (source.is_sgpr()) state.check_sgprs(in, source.index, 1);
      if (!source.is_vgpr() || (side == 0 && in.mod.dpp != DppKind::kNone)) continue;
      state.check_overwrite_vgprs(in, source.index, 1);
      undefined |= exec & (side ? mask : ~mask) & ~state.vgpr_written[source.index];
    }
    state.check_overwrite_vgprs(in, in.dst[0].index, 1);
  }
  Lanes buffers[4];
  const Lanes* sides[2];
  for (int side = 0; side < 2; ++side) {
    const Operand& source = in.src[static_cast<size_t>(side)];
    sides[side] = &wave.lanes(source, buffers[side]);
    if (source.modified()) {
      const uint32_t keep = source.absolute ? 0x7fffffffu : ~0u;
      const uint32_t flip = source.negate ? 0x80000000u : 0u;
      for (int i = 0; i < kLanes; ++i) {
        buffers[2 + side].v[i] = (sides[side]->v[i] & keep) ^ flip;
      }
      sides[side] = &buffers[2 + side];
    }
  }
  Lanes d;
  for (int i = 0; i < kLanes; ++i) {
    const uint32_t m = 0u - (mask >> i & 1u);
    d.v[i] = (sides[1]->v[i] & m) | (sides[0]->v[i] & ~m);
  }
  wave.store(in.dst[0], d);
  if (wave.strict) {
    auto& written = wave.strict->vgpr_written[in.dst[0].index];
    written = (written | exec) & ~undefined;
  }
}

constexpr Opcode fused(std::string_view mnemonic) {
  return valu(mnemonic, map3<F32, F32, F32, F32, fma, 0, 1, kDestination>, kReadsDestination);
}

constexpr Opcode kOpcodes[] = {
    valu("v_add_f32", k2<F32, add>),
    valu("v_sub_f32", k2<F32, subtract>),
    valu("v_subrev_f32", k2<F32, subtract_reversed>),
    valu("v_mul_f32", k2<F32, multiply>),
    valu("v_mul_dx9_zero_f32", k2<F32, multiply_zero>),
    valu("v_fma_f32", k3<F32, fma>),
    valu("v_fma_dx9_zero_f32", k3<F32, fma_zero>),
    fused("v_fmac_f32"),
    valu("v_fmac_dx9_zero_f32", map3<F32, F32, F32, F32, fma_zero, 0, 1, kDestination>,
         kReadsDestination),
    valu("v_fmaak_f32", k3<F32, fma>),
    valu("v_fmamk_f32", k3<F32, fma>),
    valu("v_min_num_f32", k2<F32, min2>),
    valu("v_max_num_f32", k2<F32, max2>),
    valu("v_min3_num_f32", k3<F32, min3>),
    valu("v_max3_num_f32", k3<F32, max3>),
    valu("v_med3_num_f32", k3<F32, med3>),
    valu("v_minmax_num_f32", k3<F32, min_max>),
    valu("v_maxmin_num_f32", k3<F32, max_min>),
    valu("v_minimum_f32", k2<F32, minimum2>),
    valu("v_maximum_f32", k2<F32, maximum2>),
    valu("v_minimum3_f32", k3<F32, minimum3>),
    valu("v_maximum3_f32", k3<F32, maximum3>),
    valu("v_minimummaximum_f32", k3<F32, minimum_maximum>),
    valu("v_maximumminimum_f32", k3<F32, maximum_minimum>),
    valu("v_ceil_f32", k1<F32, ceil>),
    valu("v_floor_f32", k1<F32, floor>),
    valu("v_trunc_f32", k1<F32, trunc>),
    valu("v_rndne_f32", k1<F32, nearest>),
    valu("v_fract_f32", k1<F32, fraction>),
    valu("v_ldexp_f32", map2<F32, F32, I32, scale>),
    valu("v_frexp_mant_f32", k1<F32, mantissa>),
    valu("v_frexp_exp_i32_f32", map1<I32, F32, exponent>),
    valu("v_cubeid_f32", k3<F32, cube_id>),
    valu("v_cubema_f32", k3<F32, cube_ma>),
    valu("v_cubesc_f32", k3<F32, cube_sc>),
    valu("v_cubetc_f32", k3<F32, cube_tc>),
    valu("v_cndmask_b32", select, kOwnStrictChecks),
};

}  // namespace

std::span<const Opcode> vector_float_opcodes() { return kOpcodes; }

}  // namespace radiance::emulator
