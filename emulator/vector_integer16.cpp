// VALU: 16-bit integers.
#include "emulator/vector_ops.hpp"

namespace radiance::emulator {
namespace {

using u16 = uint16_t;
using i16 = int16_t;
using i32 = int32_t;
using u32 = uint32_t;

u16 mov(u16 a) { return a; }
u16 bit_not(u16 a) { return static_cast<u16>(~a); }
u16 bit_and(u16 a, u16 b) { return a & b; }
u16 bit_or(u16 a, u16 b) { return a | b; }
u16 bit_xor(u16 a, u16 b) { return a ^ b; }
u16 shift_left(u16 amount, u16 x) { return static_cast<u16>(x << (amount & 15)); }
u16 shift_right(u16 amount, u16 x) { return static_cast<u16>(x >> (amount & 15)); }
i16 shift_right_signed(i16 amount, i16 x) { return static_cast<i16>(x >> (amount & 15)); }
u16 add(u16 a, u16 b) { return static_cast<u16>(a + b); }
u16 subtract(u16 a, u16 b) { return static_cast<u16>(a - b); }
u16 multiply(u16 a, u16 b) { return static_cast<u16>(u32{a} * b); }
u16 multiply_add(u16 a, u16 b, u16 c) { return static_cast<u16>(u32{a} * b + c); }
u16 add_saturating(u16 a, u16 b) { return static_cast<u16>(a + b > 0xffff ? 0xffff : a + b); }
u16 subtract_saturating(u16 a, u16 b) { return static_cast<u16>(a < b ? 0 : a - b); }
u16 multiply_add_saturating(u16 a, u16 b, u16 c) {
  const uint64_t sum = uint64_t{a} * b + c;
  return static_cast<u16>(sum > 0xffff ? 0xffff : sum);
}
i16 saturate(i32 x) { return static_cast<i16>(x > 32767 ? 32767 : x < -32768 ? -32768 : x); }
i16 add_signed_saturating(i16 a, i16 b) { return saturate(a + b); }
i16 subtract_signed_saturating(i16 a, i16 b) { return saturate(a - b); }
i16 multiply_add_signed_saturating(i16 a, i16 b, i16 c) {
  const int64_t sum = int64_t{a} * b + c;
  return static_cast<i16>(sum > 32767 ? 32767 : sum < -32768 ? -32768 : sum);
}
template <typename T>
T smaller(T a, T b) {
  return a < b ? a : b;
}
template <typename T>
T larger(T a, T b) {
  return a > b ? a : b;
}
template <typename T>
T min3(T a, T b, T c) {
  return smaller(smaller(a, b), c);
}
template <typename T>
T max3(T a, T b, T c) {
  return larger(larger(a, b), c);
}
template <typename T>
T med3(T a, T b, T c) {
  return larger(smaller(a, b), smaller(larger(a, b), c));
}
i32 multiply_add_wide(i16 a, i16 b, i32 c) {
  return static_cast<i32>(static_cast<u32>(i32{a} * b) + static_cast<u32>(c));
}
u32 multiply_add_wide_unsigned(u16 a, u16 b, u32 c) { return u32{a} * b + c; }

template <Handler Saturating>
const char* saturate_if_clamped(Instruction& in) {
  if (in.mod.clamp) in.execute = Saturating;
  return nullptr;
}

constexpr Opcode op16(std::string_view mnemonic, Handler handler,
                      const char* (*prepare)(Instruction&) = nullptr) {
  return {mnemonic, handler, OpClass::kVector, 1, kNoFlags, kAll16, prepare};
}

// Selection by VCC or an SGPR, low or high halves.
void select(const Instruction& in, Wave& wave) {
  const U16::Source a(in, wave, 0);
  const U16::Source b(in, wave, 1);
  const uint32_t mask = wave.scalar(in.src[2]);
  U16::Result d;
  for (int i = 0; i < kLanes; ++i) d.set(i, mask >> i & 1 ? b[i] : a[i]);
  d.commit(in, wave);
}

constexpr std::array<ConstantType, 4> kWide = {ConstantType::k16, ConstantType::k16,
                                               ConstantType::k32};

constexpr Opcode kOpcodes[] = {
    {"v_mov_b16", k1<U16, mov>, OpClass::kVector, 1, kMoves, kAll16},
    op16("v_not_b16", k1<U16, bit_not>),
    op16("v_and_b16", k2<U16, bit_and>),
    op16("v_or_b16", k2<U16, bit_or>),
    op16("v_xor_b16", k2<U16, bit_xor>),
    op16("v_lshlrev_b16", k2<U16, shift_left>),
    op16("v_lshrrev_b16", k2<U16, shift_right>),
    op16("v_ashrrev_i16", k2<I16, shift_right_signed>),
    op16("v_add_nc_u16", k2<U16, add>, saturate_if_clamped<k2<U16, add_saturating>>),
    op16("v_sub_nc_u16", k2<U16, subtract>, saturate_if_clamped<k2<U16, subtract_saturating>>),
    op16("v_add_nc_i16", k2<U16, add>, saturate_if_clamped<k2<I16, add_signed_saturating>>),
    op16("v_sub_nc_i16", k2<U16, subtract>,
         saturate_if_clamped<k2<I16, subtract_signed_saturating>>),
    op16("v_mul_lo_u16", k2<U16, multiply>),
    op16("v_mad_u16", k3<U16, multiply_add>, saturate_if_clamped<k3<U16, multiply_add_saturating>>),
    op16("v_mad_i16", k3<U16, multiply_add>,
         saturate_if_clamped<k3<I16, multiply_add_signed_saturating>>),
    op16("v_min_u16", k2<U16, smaller<u16>>),
    op16("v_max_u16", k2<U16, larger<u16>>),
    op16("v_min_i16", k2<I16, smaller<i16>>),
    op16("v_max_i16", k2<I16, larger<i16>>),
    op16("v_min3_u16", k3<U16, min3<u16>>),
    op16("v_max3_u16", k3<U16, max3<u16>>),
    op16("v_med3_u16", k3<U16, med3<u16>>),
    op16("v_min3_i16", k3<I16, min3<i16>>),
    op16("v_max3_i16", k3<I16, max3<i16>>),
    op16("v_med3_i16", k3<I16, med3<i16>>),
    {"v_mad_u32_u16", map3<U32, U16, U16, U32, multiply_add_wide_unsigned>, OpClass::kVector, 1,
     kNoFlags, kWide},
    {"v_mad_i32_i16", map3<I32, I16, I16, I32, multiply_add_wide>, OpClass::kVector, 1, kNoFlags,
     kWide},
    op16("v_cndmask_b16", select),
};

}  // namespace

std::span<const Opcode> vector_integer16_opcodes() { return kOpcodes; }

}  // namespace radiance::emulator
