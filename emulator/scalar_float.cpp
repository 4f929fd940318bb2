// SALU float arithmetic: the same operations as VALU, on scalars.
#include "emulator/float_ops.hpp"
#include "emulator/handlers.hpp"
#include "emulator/vector_operands.hpp"

namespace radiance::emulator {
namespace {

float load32(const Wave& wave, const Operand& operand) {
  const uint32_t bits = wave.scalar(operand);
  return as_float(wave.mode.denormals32() & 1 ? bits : flush_f32(bits));
}
void store32(const Instruction& in, Wave& wave, float value) {
  const uint32_t bits = as_bits(value);
  wave.set_scalar(in.dst[0], wave.mode.denormals32() & 2 ? bits : flush_f32(bits));
}

float widen(uint32_t half) {
  Lanes lanes;
  for (uint32_t& lane : lanes.v) lane = half & 0xffff;
  widen_f16(lanes, lanes);
  return as_float(lanes.v[0]);
}
uint32_t narrow(const Wave& wave, float value) {
  const Rounding64 rounding(wave);
  Lanes lanes;
  for (uint32_t& lane : lanes.v) lane = as_bits(value);
  narrow_f32(lanes, lanes);
  return wave.mode.denormals64() & 2 ? lanes.v[0] : flush_f16(lanes.v[0]);
}
float load16(const Wave& wave, const Operand& operand) {
  const uint32_t bits = wave.scalar(operand) & 0xffff;
  return widen(wave.mode.denormals64() & 1 ? bits : flush_f16(bits));
}
// The high half of a 16-bit scalar result is zero.
void store16(const Instruction& in, Wave& wave, float value) {
  wave.set_scalar(in.dst[0], narrow(wave, value));
}

template <auto Op>
void unary32(const Instruction& in, Wave& wave) {
  store32(in, wave, Op(load32(wave, in.src[0])));
}
template <auto Op>
void binary32(const Instruction& in, Wave& wave) {
  store32(in, wave, Op(load32(wave, in.src[0]), load32(wave, in.src[1])));
}
template <auto Op>
void unary16(const Instruction& in, Wave& wave) {
  store16(in, wave, Op(load16(wave, in.src[0])));
}
template <auto Op>
void binary16(const Instruction& in, Wave& wave) {
  const Rounding64 rounding(wave);
  store16(in, wave, Op(load16(wave, in.src[0]), load16(wave, in.src[1])));
}
template <auto Op>
void compare32(const Instruction& in, Wave& wave) {
  wave.scc() = Op(load32(wave, in.src[0]), load32(wave, in.src[1]));
}
template <auto Op>
void compare16(const Instruction& in, Wave& wave) {
  wave.scc() = Op(load16(wave, in.src[0]), load16(wave, in.src[1]));
}

void fmac32(const Instruction& in, Wave& wave) {
  store32(
      in, wave,
      __builtin_fmaf(load32(wave, in.src[0]), load32(wave, in.src[1]), load32(wave, in.dst[0])));
}
void fma32(const Instruction& in, Wave& wave) {
  store32(
      in, wave,
      __builtin_fmaf(load32(wave, in.src[0]), load32(wave, in.src[1]), load32(wave, in.src[2])));
}
void fmac16(const Instruction& in, Wave& wave) {
  const float a = load16(wave, in.src[0]);
  const float b = load16(wave, in.src[1]);
  const float c = load16(wave, in.dst[0]);
  if (wave.mode.round64() == 0) {
    wave.set_scalar(in.dst[0], fma_f16(a, b, c));
  } else {
    store16(in, wave, __builtin_fmaf(a, b, c));
  }
}

void f32_from_i32(const Instruction& in, Wave& wave) {
  store32(in, wave, static_cast<float>(static_cast<int32_t>(wave.scalar(in.src[0]))));
}
void f32_from_u32(const Instruction& in, Wave& wave) {
  store32(in, wave, static_cast<float>(wave.scalar(in.src[0])));
}
void i32_from_f32(const Instruction& in, Wave& wave) {
  wave.set_scalar(in.dst[0], static_cast<uint32_t>(to_i32(load32(wave, in.src[0]))));
}
void u32_from_f32(const Instruction& in, Wave& wave) {
  wave.set_scalar(in.dst[0], to_u32(load32(wave, in.src[0])));
}
void f16_from_f32(const Instruction& in, Wave& wave) { store16(in, wave, load32(wave, in.src[0])); }
void f32_from_f16(const Instruction& in, Wave& wave) { store32(in, wave, load16(wave, in.src[0])); }
void f32_from_high_f16(const Instruction& in, Wave& wave) {
  store32(in, wave, widen(wave.scalar(in.src[0]) >> 16));
}
void pack_toward_zero(const Instruction& in, Wave& wave) {
  Rounding64::set(3);
  Lanes lanes{};
  lanes.v[0] = wave.scalar(in.src[0]);
  lanes.v[1] = wave.scalar(in.src[1]);
  narrow_f32(lanes, lanes);
  Rounding64::set(wave.mode.round32());
  wave.set_scalar(in.dst[0], lanes.v[0] | lanes.v[1] << 16);
}

float add(float a, float b) { return a + b; }
float subtract(float a, float b) { return a - b; }
float multiply(float a, float b) { return a * b; }
float min2(float a, float b) { return quiet(min_num(a, b)); }
float max2(float a, float b) { return quiet(max_num(a, b)); }
float minimum2(float a, float b) { return quiet(minimum(a, b)); }
float maximum2(float a, float b) { return quiet(maximum(a, b)); }
float ceil(float a) { return quiet(std::ceil(a)); }
float floor(float a) { return quiet(std::floor(a)); }
float trunc(float a) { return quiet(std::trunc(a)); }
float nearest(float a) { return quiet(round_even(a)); }

bool eq(float a, float b) { return a == b; }
bool neq(float a, float b) { return a != b; }
bool lt(float a, float b) { return a < b; }
bool le(float a, float b) { return a <= b; }
bool gt(float a, float b) { return a > b; }
bool ge(float a, float b) { return a >= b; }
bool lg(float a, float b) { return a < b || a > b; }
bool ordered(float a, float b) { return !__builtin_isunordered(a, b); }
bool unordered(float a, float b) { return __builtin_isnan(a) || __builtin_isnan(b); }
bool nlt(float a, float b) { return !(a < b); }
bool nle(float a, float b) { return !(a <= b); }
bool ngt(float a, float b) { return !(a > b); }
bool nge(float a, float b) { return !(a >= b); }
bool nlg(float a, float b) { return !(a < b || a > b); }

constexpr Opcode op(std::string_view mnemonic, Handler handler, uint32_t flags = kNoFlags) {
  return {mnemonic, handler, OpClass::kScalar, 1, flags};
}
constexpr Opcode half(std::string_view mnemonic, Handler handler, uint32_t flags = kNoFlags) {
  return {mnemonic, handler, OpClass::kScalar,
          1,        flags,   {ConstantType::k16, ConstantType::k16, ConstantType::k16}};
}
constexpr Opcode cmp32(std::string_view mnemonic, Handler handler) {
  return {mnemonic, handler, OpClass::kScalar, 0, kWritesScc};
}
constexpr Opcode cmp16(std::string_view mnemonic, Handler handler) {
  return {mnemonic, handler,    OpClass::kScalar,
          0,        kWritesScc, {ConstantType::k16, ConstantType::k16}};
}

constexpr Opcode kOpcodes[] = {
    op("s_add_f32", binary32<add>),
    op("s_sub_f32", binary32<subtract>),
    op("s_mul_f32", binary32<multiply>),
    op("s_min_num_f32", binary32<min2>),
    op("s_max_num_f32", binary32<max2>),
    op("s_minimum_f32", binary32<minimum2>),
    op("s_maximum_f32", binary32<maximum2>),
    op("s_fmac_f32", fmac32, kReadsDestination),
    op("s_fmaak_f32", fma32),
    op("s_fmamk_f32", fma32),
    op("s_ceil_f32", unary32<ceil>),
    op("s_floor_f32", unary32<floor>),
    op("s_trunc_f32", unary32<trunc>),
    op("s_rndne_f32", unary32<nearest>),
    op("s_cvt_f32_i32", f32_from_i32),
    op("s_cvt_f32_u32", f32_from_u32),
    op("s_cvt_i32_f32", i32_from_f32),
    op("s_cvt_u32_f32", u32_from_f32),
    op("s_cvt_f16_f32", f16_from_f32),
    half("s_cvt_f32_f16", f32_from_f16),
    half("s_cvt_hi_f32_f16", f32_from_high_f16),
    op("s_cvt_pk_rtz_f16_f32", pack_toward_zero),
    half("s_add_f16", binary16<add>),
    half("s_sub_f16", binary16<subtract>),
    half("s_mul_f16", binary16<multiply>),
    half("s_min_num_f16", binary16<min2>),
    half("s_max_num_f16", binary16<max2>),
    half("s_minimum_f16", binary16<minimum2>),
    half("s_maximum_f16", binary16<maximum2>),
    half("s_fmac_f16", fmac16, kReadsDestination),
    half("s_ceil_f16", unary16<ceil>),
    half("s_floor_f16", unary16<floor>),
    half("s_trunc_f16", unary16<trunc>),
    half("s_rndne_f16", unary16<nearest>),
    cmp32("s_cmp_eq_f32", compare32<eq>),
    cmp32("s_cmp_neq_f32", compare32<neq>),
    cmp32("s_cmp_lt_f32", compare32<lt>),
    cmp32("s_cmp_le_f32", compare32<le>),
    cmp32("s_cmp_gt_f32", compare32<gt>),
    cmp32("s_cmp_ge_f32", compare32<ge>),
    cmp32("s_cmp_lg_f32", compare32<lg>),
    cmp32("s_cmp_o_f32", compare32<ordered>),
    cmp32("s_cmp_u_f32", compare32<unordered>),
    cmp32("s_cmp_nlt_f32", compare32<nlt>),
    cmp32("s_cmp_nle_f32", compare32<nle>),
    cmp32("s_cmp_ngt_f32", compare32<ngt>),
    cmp32("s_cmp_nge_f32", compare32<nge>),
    cmp32("s_cmp_nlg_f32", compare32<nlg>),
    cmp16("s_cmp_eq_f16", compare16<eq>),
    cmp16("s_cmp_neq_f16", compare16<neq>),
    cmp16("s_cmp_lt_f16", compare16<lt>),
    cmp16("s_cmp_le_f16", compare16<le>),
    cmp16("s_cmp_gt_f16", compare16<gt>),
    cmp16("s_cmp_ge_f16", compare16<ge>),
    cmp16("s_cmp_lg_f16", compare16<lg>),
    cmp16("s_cmp_o_f16", compare16<ordered>),
    cmp16("s_cmp_u_f16", compare16<unordered>),
    cmp16("s_cmp_nlt_f16", compare16<nlt>),
    cmp16("s_cmp_nle_f16", compare16<nle>),
    cmp16("s_cmp_ngt_f16", compare16<ngt>),
    cmp16("s_cmp_nge_f16", compare16<nge>),
    cmp16("s_cmp_nlg_f16", compare16<nlg>),
};

}  // namespace

std::span<const Opcode> scalar_float_opcodes() { return kOpcodes; }

}  // namespace radiance::emulator
