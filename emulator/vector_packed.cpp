// VALU: VOP3P. Two 16-bit operations in one register, mixed-precision FMA, and dot products.
//
// Order and rounding of the float dot products are not documented. Here: products are exact, then
// added one by one from the lowest element to the accumulator with an f32 FMA each. Nothing may
// depend on it.
#include "emulator/vector_ops.hpp"
#include "numerics/bf16.hpp"

namespace radiance::emulator {
namespace {

// --- Halves of packed operands
// -------------------------------------------------------------------------

// The half of source `source` that goes into the low or the high result, zero-extended.
void packed_half(const Instruction& in, const Wave& wave, int source, bool high_result,
                 Lanes& out) {
  Lanes buffer;
  const Lanes& raw = wave.lanes(operand_at(in, source), buffer);
  // The destination as a source (v_pk_fmac) has no selection of its own.
  const uint8_t select = high_result ? in.mod.op_sel_hi : in.mod.op_sel;
  const bool high = source == kDestination ? high_result : (select >> source & 1) != 0;
  const int shift = high ? 16 : 0;
  for (int i = 0; i < kLanes; ++i) out.v[i] = raw.v[i] >> shift & 0xffffu;
}

void packed_f16_half(const Instruction& in, const Wave& wave, int source, bool high_result,
                     Lanes& out) {
  packed_half(in, wave, source, high_result, out);
  const uint8_t negate = high_result ? in.mod.neg_hi : in.mod.neg_lo;
  if (source != kDestination && (negate >> source & 1)) {
    for (int i = 0; i < kLanes; ++i) out.v[i] ^= 0x8000u;
  }
  if (!(wave.mode.denormals64() & 1)) {
    for (int i = 0; i < kLanes; ++i) out.v[i] = flush_f16(out.v[i]);
  }
}

void finish_f16(const Instruction& in, const Wave& wave, Lanes& half) {
  if (in.mod.clamp) {
    Lanes wide;
    widen_f16(half, wide);
    for (int i = 0; i < kLanes; ++i) {
      const float x = as_float(wide.v[i]);
      half.v[i] = x > 0 ? (x < 1 ? half.v[i] : 0x3c00u) : 0u;
    }
  }
  if (!(wave.mode.denormals64() & 2)) {
    for (int i = 0; i < kLanes; ++i) half.v[i] = flush_f16(half.v[i]);
  }
}

void store_halves(const Instruction& in, Wave& wave, const Lanes& low, const Lanes& high) {
  Lanes d;
  for (int i = 0; i < kLanes; ++i) d.v[i] = (low.v[i] & 0xffffu) | high.v[i] << 16;
  wave.store(in.dst[0], d);
}

template <typename T, auto Op, auto Saturating>
void packed2(const Instruction& in, Wave& wave) {
  Lanes half[2];
  for (int h = 0; h < 2; ++h) {
    Lanes a;
    Lanes b;
    packed_half(in, wave, 0, h == 1, a);
    packed_half(in, wave, 1, h == 1, b);
    for (int i = 0; i < kLanes; ++i) {
      const auto x = static_cast<T>(a.v[i]);
      const auto y = static_cast<T>(b.v[i]);
      half[h].v[i] = static_cast<uint16_t>(in.mod.clamp ? Saturating(x, y) : Op(x, y));
    }
  }
  store_halves(in, wave, half[0], half[1]);
}

template <typename T, auto Op, auto Saturating>
void packed3(const Instruction& in, Wave& wave) {
  Lanes half[2];
  for (int h = 0; h < 2; ++h) {
    Lanes a;
    Lanes b;
    Lanes c;
    packed_half(in, wave, 0, h == 1, a);
    packed_half(in, wave, 1, h == 1, b);
    packed_half(in, wave, 2, h == 1, c);
    if (in.mod.clamp) {
      for (int i = 0; i < kLanes; ++i) {
        half[h].v[i] = static_cast<uint16_t>(
            Saturating(static_cast<T>(a.v[i]), static_cast<T>(b.v[i]), static_cast<T>(c.v[i])));
      }
    } else {
      for (int i = 0; i < kLanes; ++i) {
        half[h].v[i] = static_cast<uint16_t>(
            Op(static_cast<T>(a.v[i]), static_cast<T>(b.v[i]), static_cast<T>(c.v[i])));
      }
    }
  }
  store_halves(in, wave, half[0], half[1]);
}

template <auto Op>
void packed_f16(const Instruction& in, Wave& wave) {
  const Rounding64 rounding(wave);
  Lanes half[2];
  for (int h = 0; h < 2; ++h) {
    Lanes a;
    Lanes b;
    packed_f16_half(in, wave, 0, h == 1, a);
    packed_f16_half(in, wave, 1, h == 1, b);
    widen_f16(a, a);
    widen_f16(b, b);
    for (int i = 0; i < kLanes; ++i) a.v[i] = as_bits(Op(as_float(a.v[i]), as_float(b.v[i])));
    narrow_f32(a, half[h]);
    finish_f16(in, wave, half[h]);
  }
  store_halves(in, wave, half[0], half[1]);
}

template <int S2>
void packed_fma(const Instruction& in, Wave& wave) {
  const Rounding64 rounding(wave);
  Lanes half[2];
  for (int h = 0; h < 2; ++h) {
    Lanes a;
    Lanes b;
    Lanes c;
    packed_f16_half(in, wave, 0, h == 1, a);
    packed_f16_half(in, wave, 1, h == 1, b);
    packed_f16_half(in, wave, S2, h == 1, c);
    widen_f16(a, a);
    widen_f16(b, b);
    widen_f16(c, c);
    if (wave.mode.round64() == 0) {
      for (int i = 0; i < kLanes; ++i) {
        half[h].v[i] = fma_f16(as_float(a.v[i]), as_float(b.v[i]), as_float(c.v[i]));
      }
    } else {
      for (int i = 0; i < kLanes; ++i) {
        a.v[i] = as_bits(__builtin_fmaf(as_float(a.v[i]), as_float(b.v[i]), as_float(c.v[i])));
      }
      narrow_f32(a, half[h]);
    }
    finish_f16(in, wave, half[h]);
  }
  store_halves(in, wave, half[0], half[1]);
}

using u16 = uint16_t;
using i16 = int16_t;
int saturate_u16(int x) { return x > 0xffff ? 0xffff : x < 0 ? 0 : x; }
int saturate_i16(int x) { return x > 32767 ? 32767 : x < -32768 ? -32768 : x; }
template <typename T>
int add(T a, T b) {
  return a + b;
}
template <typename T>
int subtract(T a, T b) {
  return a - b;
}
int add_u16(u16 a, u16 b) { return saturate_u16(a + b); }
int subtract_u16(u16 a, u16 b) { return saturate_u16(a - b); }
int add_i16(i16 a, i16 b) { return saturate_i16(a + b); }
int subtract_i16(i16 a, i16 b) { return saturate_i16(a - b); }
int multiply(u16 a, u16 b) { return static_cast<int>(uint32_t{a} * b); }
int shift_left(u16 amount, u16 x) { return x << (amount & 15); }
int shift_right(u16 amount, u16 x) { return x >> (amount & 15); }
int shift_right_signed(i16 amount, i16 x) { return x >> (amount & 15); }
template <typename T>
int smaller(T a, T b) {
  return a < b ? a : b;
}
template <typename T>
int larger(T a, T b) {
  return a > b ? a : b;
}
// Neither sum leaves 32 bits.
uint32_t mad(u16 a, u16 b, u16 c) { return uint32_t{a} * b + c; }
uint32_t mad_u16(u16 a, u16 b, u16 c) {
  const uint32_t sum = mad(a, b, c);
  return sum > 0xffff ? 0xffff : sum;
}
int mad_i16(i16 a, i16 b, i16 c) { return saturate_i16(a * b + c); }
float add_f(float a, float b) { return a + b; }
float multiply_f(float a, float b) { return a * b; }

// --- Mixed-precision FMA
// -------------------------------------------------------------------------------

// Each source is an f32, or with its op_sel_hi bit an f16 half of the register (op_sel: which).
void mix_source(const Instruction& in, const Wave& wave, int source, Lanes& out) {
  const Operand& operand = operand_at(in, source);
  const bool is_half = in.mod.op_sel_hi >> source & 1;
  if (!is_half) {
    Lanes buffer;
    out = source_f32(wave, operand, buffer);
    return;
  }
  Lanes buffer;
  const Lanes& raw = wave.lanes(operand, buffer);
  // Float constants are parsed as f32; what fits 16 bits is an f16 literal.
  if (operand.kind == OperandKind::kConstant && operand.value > 0xffff) {
    out = raw;
  } else {
    const int shift = in.mod.op_sel >> source & 1 ? 16 : 0;
    for (int i = 0; i < kLanes; ++i) out.v[i] = raw.v[i] >> shift & 0xffffu;
    widen_f16(out, out);
  }
  const uint32_t keep = operand.absolute ? 0x7fffffffu : ~0u;
  const uint32_t flip = operand.negate ? 0x80000000u : 0u;
  for (int i = 0; i < kLanes; ++i) out.v[i] = (out.v[i] & keep) ^ flip;
}

void mix(const Instruction& in, const Wave& wave, Lanes& d) {
  Lanes a;
  Lanes b;
  Lanes c;
  mix_source(in, wave, 0, a);
  mix_source(in, wave, 1, b);
  mix_source(in, wave, 2, c);
  for (int i = 0; i < kLanes; ++i) {
    d.v[i] = as_bits(__builtin_fmaf(as_float(a.v[i]), as_float(b.v[i]), as_float(c.v[i])));
  }
}

void mix_f32(const Instruction& in, Wave& wave) {
  Lanes d;
  mix(in, wave, d);
  store_f32(in, wave, d);
}

template <bool High>
void mix_f16(const Instruction& in, Wave& wave) {
  Lanes d;
  mix(in, wave, d);
  {
    const Rounding64 rounding(wave);
    narrow_f32(d, d);
  }
  finish_f16(in, wave, d);
  const Lanes& old = wave.vgpr[in.dst[0].index];
  for (int i = 0; i < kLanes; ++i) {
    d.v[i] = High ? (old.v[i] & 0xffffu) | d.v[i] << 16 : (old.v[i] & 0xffff0000u) | d.v[i];
  }
  wave.store(in.dst[0], d);
}

// --- Dot products
// --------------------------------------------------------------------------------------

// Two f16 or bf16 elements a register; `half` gives element h of a source as f32.
template <bool Brain>
void dot_half(const Instruction& in, const Wave& wave, int source, bool h, Lanes& out) {
  packed_half(in, wave, source, h, out);
  const uint8_t negate = h ? in.mod.neg_hi : in.mod.neg_lo;
  if (negate >> source & 1) {
    for (int i = 0; i < kLanes; ++i) out.v[i] ^= 0x8000u;
  }
  if constexpr (Brain) {
    for (int i = 0; i < kLanes; ++i) out.v[i] <<= 16;
  } else {
    widen_f16(out, out);
  }
}

template <bool Brain>
void dot2(const Instruction& in, const Wave& wave, Lanes& sum) {
  for (int h = 0; h < 2; ++h) {
    Lanes a;
    Lanes b;
    dot_half<Brain>(in, wave, 0, h == 1, a);
    dot_half<Brain>(in, wave, 1, h == 1, b);
    for (int i = 0; i < kLanes; ++i) {
      sum.v[i] = as_bits(__builtin_fmaf(as_float(a.v[i]), as_float(b.v[i]), as_float(sum.v[i])));
    }
  }
}

template <bool Brain, int S2>
void dot2_f32(const Instruction& in, Wave& wave) {
  Lanes buffer;
  Lanes sum = source_f32(wave, operand_at(in, S2), buffer);
  if (S2 != kDestination && (in.mod.neg_lo >> 2 & 1)) {
    for (int i = 0; i < kLanes; ++i) sum.v[i] ^= 0x80000000u;
  }
  dot2<Brain>(in, wave, sum);
  store_f32(in, wave, sum);
}

// With a 16-bit accumulator and result; VOP3, so op_sel chooses the accumulator's and the result's
// half. The elements of the first two sources are always both halves.
template <bool Brain>
void dot2_half(const Instruction& in, Wave& wave) {
  Instruction elements = in;
  elements.mod.op_sel = 0;
  elements.mod.op_sel_hi = 7;
  Lanes sum;
  source_b16(in, wave, 2, sum);
  if (in.src[2].modified()) {
    for (int i = 0; i < kLanes; ++i) {
      sum.v[i] =
          (sum.v[i] & (in.src[2].absolute ? 0x7fffu : 0xffffu)) ^ (in.src[2].negate ? 0x8000u : 0u);
    }
  }
  if constexpr (Brain) {
    for (int i = 0; i < kLanes; ++i) sum.v[i] <<= 16;
  } else {
    widen_f16(sum, sum);
  }
  dot2<Brain>(elements, wave, sum);
  if constexpr (Brain) {
    for (int i = 0; i < kLanes; ++i) sum.v[i] = f32_to_bf16(as_float(sum.v[i]));
    store_b16(in, wave, sum);
  } else {
    narrow_f32(sum, sum);
    store_f16_bits(in, wave, sum);
  }
}

template <int Bits>
int64_t element(uint32_t x, int i, bool is_signed) {
  const uint32_t field = x >> (Bits * i) & ((1u << Bits) - 1);
  const int64_t sign = int64_t{1} << (Bits - 1);
  return is_signed ? (static_cast<int64_t>(field) ^ sign) - sign : static_cast<int64_t>(field);
}

// 4 bytes or 8 nibbles; for the iu forms neg_lo says which of the sources is signed. The sum is
// exact and wraps, or with the clamp bit saturates.
template <int Bits, bool Mixed>
void dot_integer(const Instruction& in, Wave& wave) {
  const U32::Source a(in, wave, 0);
  const U32::Source b(in, wave, 1);
  const U32::Source c(in, wave, 2);
  const bool signed_a = Mixed && (in.mod.neg_lo & 1);
  const bool signed_b = Mixed && (in.mod.neg_lo & 2);
  U32::Result d;
  for (int i = 0; i < kLanes; ++i) {
    int64_t sum = Mixed ? int64_t{static_cast<int32_t>(c[i])} : int64_t{c[i]};
    for (int e = 0; e < 32 / Bits; ++e) {
      sum += element<Bits>(a[i], e, signed_a) * element<Bits>(b[i], e, signed_b);
    }
    if (in.mod.clamp) {
      const int64_t low = Mixed ? int64_t{INT32_MIN} : 0;
      const int64_t high = Mixed ? int64_t{INT32_MAX} : int64_t{UINT32_MAX};
      sum = sum < low ? low : sum > high ? high : sum;
    }
    d.set(i, static_cast<uint32_t>(sum));
  }
  d.commit(in, wave);
}

// --- Packing
// -------------------------------------------------------------------------------------------

void pack_f16(const Instruction& in, Wave& wave) {
  Lanes low;
  Lanes high;
  source_f16_bits(in, wave, 0, low);
  source_f16_bits(in, wave, 1, high);
  store_halves(in, wave, low, high);
}

constexpr Opcode pk(std::string_view mnemonic, Handler handler, uint32_t flags = kNoFlags) {
  return valu(mnemonic, handler, flags, kAll16);
}
constexpr std::array<ConstantType, 4> kDot16 = {ConstantType::k16, ConstantType::k16,
                                                ConstantType::k32};
constexpr std::array<ConstantType, 4> kDotBf16 = {ConstantType::kBf16, ConstantType::kBf16,
                                                  ConstantType::k32};

constexpr Opcode kOpcodes[] = {
    pk("v_pk_add_u16", packed2<u16, add<u16>, add_u16>),
    pk("v_pk_sub_u16", packed2<u16, subtract<u16>, subtract_u16>),
    pk("v_pk_add_i16", packed2<i16, add<i16>, add_i16>),
    pk("v_pk_sub_i16", packed2<i16, subtract<i16>, subtract_i16>),
    pk("v_pk_mul_lo_u16", packed2<u16, multiply, multiply>),
    pk("v_pk_lshlrev_b16", packed2<u16, shift_left, shift_left>),
    pk("v_pk_lshrrev_b16", packed2<u16, shift_right, shift_right>),
    pk("v_pk_ashrrev_i16", packed2<i16, shift_right_signed, shift_right_signed>),
    pk("v_pk_min_u16", packed2<u16, smaller<u16>, smaller<u16>>),
    pk("v_pk_max_u16", packed2<u16, larger<u16>, larger<u16>>),
    pk("v_pk_min_i16", packed2<i16, smaller<i16>, smaller<i16>>),
    pk("v_pk_max_i16", packed2<i16, larger<i16>, larger<i16>>),
    pk("v_pk_mad_u16", packed3<u16, mad, mad_u16>),
    pk("v_pk_mad_i16", packed3<i16, mad, mad_i16>),
    pk("v_pk_add_f16", packed_f16<add_f>),
    pk("v_pk_mul_f16", packed_f16<multiply_f>),
    pk("v_pk_min_num_f16", packed_f16<min_num<float>>),
    pk("v_pk_max_num_f16", packed_f16<max_num<float>>),
    pk("v_pk_minimum_f16", packed_f16<minimum<float>>),
    pk("v_pk_maximum_f16", packed_f16<maximum<float>>),
    pk("v_pk_fma_f16", packed_fma<2>),
    pk("v_pk_fmac_f16", packed_fma<kDestination>, kReadsDestination),
    pk("v_pack_b32_f16", pack_f16),
    valu("v_fma_mix_f32", mix_f32, kOpSelHiZero),
    valu("v_fma_mixlo_f16", mix_f16<false>, kOpSelHiZero),
    valu("v_fma_mixhi_f16", mix_f16<true>, kOpSelHiZero),
    valu("v_dot2_f32_f16", dot2_f32<false, 2>, kNoFlags, kDot16),
    valu("v_dot2_f32_bf16", dot2_f32<true, 2>, kNoFlags, kDotBf16),
    valu("v_dot2acc_f32_f16", dot2_f32<false, kDestination>, kReadsDestination, kDot16),
    valu("v_dot2acc_f32_bf16", dot2_f32<true, kDestination>, kReadsDestination, kDotBf16),
    valu("v_dot2_f16_f16", dot2_half<false>, kNoFlags, kAll16),
    valu("v_dot2_bf16_bf16", dot2_half<true>, kNoFlags,
         {ConstantType::kBf16, ConstantType::kBf16, ConstantType::kBf16}),
    valu("v_dot4_i32_iu8", dot_integer<8, true>),
    valu("v_dot4_u32_u8", dot_integer<8, false>),
    valu("v_dot8_i32_iu4", dot_integer<4, true>),
    valu("v_dot8_u32_u4", dot_integer<4, false>),
};

}  // namespace

std::span<const Opcode> vector_packed_opcodes() { return kOpcodes; }

}  // namespace radiance::emulator
