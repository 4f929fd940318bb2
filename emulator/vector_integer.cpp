// VALU: 32-bit integer arithmetic, logic, shifts and bit fields.
#include <bit>

#include "emulator/vector_ops.hpp"

namespace radiance::emulator {
namespace {

using u32 = uint32_t;
using i32 = int32_t;
using u64 = uint64_t;
using i64 = int64_t;

u32 mov(u32 a) { return a; }
u32 bit_not(u32 a) { return ~a; }
u32 bit_and(u32 a, u32 b) { return a & b; }
u32 bit_or(u32 a, u32 b) { return a | b; }
u32 bit_xor(u32 a, u32 b) { return a ^ b; }
u32 bit_xnor(u32 a, u32 b) { return ~(a ^ b); }
u32 shift_left(u32 amount, u32 x) { return x << (amount & 31); }
u32 shift_right(u32 amount, u32 x) { return x >> (amount & 31); }
i32 shift_right_signed(i32 amount, i32 x) { return x >> (amount & 31); }
u32 add(u32 a, u32 b) { return a + b; }
u32 subtract(u32 a, u32 b) { return a - b; }
u32 subtract_reversed(u32 a, u32 b) { return b - a; }
u32 add_saturating(u32 a, u32 b) {
  const u32 sum = a + b;
  return sum < a ? ~0u : sum;
}
u32 subtract_saturating(u32 a, u32 b) { return a < b ? 0 : a - b; }
u32 subtract_reversed_saturating(u32 a, u32 b) { return subtract_saturating(b, a); }
i32 saturate(i64 x) {
  return static_cast<i32>(x > INT32_MAX ? INT32_MAX : x < INT32_MIN ? INT32_MIN : x);
}
i32 add_signed_saturating(i32 a, i32 b) { return saturate(i64{a} + b); }
i32 subtract_signed_saturating(i32 a, i32 b) { return saturate(i64{a} - b); }
u32 multiply(u32 a, u32 b) { return a * b; }
u32 multiply_high(u32 a, u32 b) { return static_cast<u32>(u64{a} * b >> 32); }
i32 multiply_high_signed(i32 a, i32 b) { return static_cast<i32>(i64{a} * b >> 32); }
i32 signed24(i32 x) { return static_cast<i32>(static_cast<u32>(x) << 8) >> 8; }
u32 unsigned24(u32 x) { return x & 0xffffff; }
u32 multiply24(u32 a, u32 b) { return unsigned24(a) * unsigned24(b); }
u32 multiply24_high(u32 a, u32 b) {
  return static_cast<u32>(u64{unsigned24(a)} * unsigned24(b) >> 32);
}
i32 multiply24_signed(i32 a, i32 b) { return static_cast<i32>(i64{signed24(a)} * signed24(b)); }
i32 multiply24_high_signed(i32 a, i32 b) {
  return static_cast<i32>(i64{signed24(a)} * signed24(b) >> 32);
}
u32 multiply24_add(u32 a, u32 b, u32 c) { return multiply24(a, b) + c; }
u32 multiply24_add_signed(u32 a, u32 b, u32 c) {
  return static_cast<u32>(multiply24_signed(static_cast<i32>(a), static_cast<i32>(b))) + c;
}
u32 smaller(u32 a, u32 b) { return a < b ? a : b; }
u32 larger(u32 a, u32 b) { return a > b ? a : b; }
i32 smaller_signed(i32 a, i32 b) { return a < b ? a : b; }
i32 larger_signed(i32 a, i32 b) { return a > b ? a : b; }
template <typename T>
T min3(T a, T b, T c) {
  const T ab = a < b ? a : b;
  return ab < c ? ab : c;
}
template <typename T>
T max3(T a, T b, T c) {
  const T ab = a > b ? a : b;
  return ab > c ? ab : c;
}
template <typename T>
T med3(T a, T b, T c) {
  const T low = a < b ? a : b;
  const T high = a < b ? b : a;
  return c < low ? low : c > high ? high : c;
}
template <typename T>
T min_max(T a, T b, T c) {
  const T ab = a < b ? a : b;
  return ab > c ? ab : c;
}
template <typename T>
T max_min(T a, T b, T c) {
  const T ab = a > b ? a : b;
  return ab < c ? ab : c;
}

u32 add3(u32 a, u32 b, u32 c) { return a + b + c; }
u32 or3(u32 a, u32 b, u32 c) { return a | b | c; }
u32 xor3(u32 a, u32 b, u32 c) { return a ^ b ^ c; }
u32 and_or(u32 a, u32 b, u32 c) { return (a & b) | c; }
u32 shift_add(u32 a, u32 b, u32 c) { return (a << (b & 31)) + c; }
u32 add_shift(u32 a, u32 b, u32 c) { return (a + b) << (c & 31); }
u32 shift_or(u32 a, u32 b, u32 c) { return (a << (b & 31)) | c; }
u32 xor_add(u32 a, u32 b, u32 c) { return (a ^ b) + c; }
u32 bit_insert(u32 mask, u32 a, u32 b) { return (mask & a) | (~mask & b); }
u32 field_mask(u32 width, u32 offset) { return ((1u << (width & 31)) - 1) << (offset & 31); }
u32 extract(u32 x, u32 offset, u32 width) {
  return (x >> (offset & 31)) & ((1u << (width & 31)) - 1);
}
i32 extract_signed(u32 x, u32 offset, u32 width) {
  const u32 w = width & 31;
  const u32 field = extract(x, offset, width);
  const u32 sign = w ? 1u << (w - 1) : 0;
  return static_cast<i32>((field ^ sign) - sign);
}
u32 align_bits(u32 high, u32 low, uint16_t amount) {
  return static_cast<u32>((u64{high} << 32 | low) >> (amount & 31));
}
u32 align_bytes(u32 high, u32 low, uint16_t amount) {
  return static_cast<u32>((u64{high} << 32 | low) >> (8 * (amount & 3)));
}
u32 reverse(u32 x) {
  x = (x >> 1 & 0x55555555) | (x & 0x55555555) << 1;
  x = (x >> 2 & 0x33333333) | (x & 0x33333333) << 2;
  x = (x >> 4 & 0x0f0f0f0f) | (x & 0x0f0f0f0f) << 4;
  return __builtin_bswap32(x);
}
u32 count_bits(u32 a, u32 b) { return static_cast<u32>(std::popcount(a)) + b; }
i32 leading_zeros(u32 a) { return a ? std::countl_zero(a) : -1; }
i32 trailing_zeros(u32 a) { return a ? std::countr_zero(a) : -1; }
i32 leading_signs(u32 a) {
  const u32 flipped = a >> 31 ? ~a : a;
  return flipped ? std::countl_zero(flipped) : -1;
}

// One byte of the result by a selector: 0-3 from the second source, 4-7 from the first; 8-11 spread
// the sign of bytes 1, 3, 5, 7; 12 is 0x00; above is 0xff.
u32 permuted_byte(u64 bytes, u32 selector) {
  const u32 s = selector & 0xff;
  const u32 byte = static_cast<u32>(bytes >> (8 * (s & 7))) & 0xff;
  const u32 sign = 0xff & (0u - (static_cast<u32>(bytes >> (16 * (s & 3) + 15)) & 1));
  return s < 8 ? byte : s < 12 ? sign : s == 12 ? 0u : 0xffu;
}
u32 permute(u32 high, u32 low, u32 selectors) {
  const u64 bytes = u64{high} << 32 | low;
  return permuted_byte(bytes, selectors) | permuted_byte(bytes, selectors >> 8) << 8 |
         permuted_byte(bytes, selectors >> 16) << 16 | permuted_byte(bytes, selectors >> 24) << 24;
}

u32 distance(u32 a, u32 b) { return a > b ? a - b : b - a; }
u32 byte_of(u32 x, int i) { return x >> (8 * i) & 0xff; }
u32 sad_u8(u32 a, u32 b, u32 c) {
  for (int i = 0; i < 4; ++i) c += distance(byte_of(a, i), byte_of(b, i));
  return c;
}
u32 sad_hi_u8(u32 a, u32 b, u32 c) { return (sad_u8(a, b, 0) << 16) + c; }
// Bytes where the second source is zero do not count.
u32 msad_u8(u32 a, u32 b, u32 c) {
  for (int i = 0; i < 4; ++i) c += byte_of(b, i) ? distance(byte_of(a, i), byte_of(b, i)) : 0;
  return c;
}
u32 sad_u16(u32 a, u32 b, u32 c) {
  return c + distance(a & 0xffff, b & 0xffff) + distance(a >> 16, b >> 16);
}
u32 sad_u32(u32 a, u32 b, u32 c) { return distance(a, b) + c; }
u32 lerp_u8(u32 a, u32 b, u32 c) {
  u32 out = 0;
  for (int i = 0; i < 4; ++i) {
    out |= ((byte_of(a, i) + byte_of(b, i) + (c >> (8 * i) & 1)) >> 1) << (8 * i);
  }
  return out;
}

// --- Clamping: integer additions saturate with the clamp bit, so it picks another handler
// ---------------

template <Handler Saturating>
const char* saturate_if_clamped(Instruction& in) {
  if (in.mod.clamp) in.execute = Saturating;
  return nullptr;
}

constexpr Opcode clamped(std::string_view mnemonic, Handler plain,
                         const char* (*prepare)(Instruction&)) {
  return {mnemonic, plain, OpClass::kVector, 1, kNoFlags, {}, prepare};
}

// --- Carry
// -------------------------------------------------------------------------------------------

// D = a + b + carry, a - b - carry; the carry-out of inactive lanes is zero.
enum class Carry : uint8_t { kAdd, kSubtract, kSubtractReversed };

template <Carry Kind, bool HasCarryIn>
void with_carry(const Instruction& in, Wave& wave) {
  const U32::Source a(in, wave, 0);
  const U32::Source b(in, wave, 1);
  const uint32_t carry_in = HasCarryIn ? wave.scalar(in.src[2]) : 0;
  // With the clamp bit the result saturates instead of wrapping.
  const u32 limit = Kind == Carry::kAdd ? ~0u : 0u;
  const u32 clamp = in.mod.clamp ? ~0u : 0u;
  U32::Result d;
  uint32_t carry_out = 0;
  for (int i = 0; i < kLanes; ++i) {
    const u32 x = Kind == Carry::kSubtractReversed ? b[i] : a[i];
    const u32 y = Kind == Carry::kSubtractReversed ? a[i] : b[i];
    const u32 c = HasCarryIn ? carry_in >> i & 1 : 0u;
    const u32 partial = Kind == Carry::kAdd ? x + y : x - y;
    const u32 sum = Kind == Carry::kAdd ? partial + c : partial - c;
    const bool carry =
        Kind == Carry::kAdd ? (partial < x) | (sum < partial) : (x < y) | (partial < c);
    carry_out |= carry ? lane_bit(i) : 0u;
    d.set(i, carry && clamp ? limit : sum);
  }
  wave.set_scalar(in.dst[1], carry_out & wave.exec());
  d.commit(in, wave);
}

template <Carry Kind, bool HasCarryIn>
constexpr Opcode carrying(std::string_view mnemonic) {
  return {mnemonic, with_carry<Kind, HasCarryIn>, OpClass::kVector, 2};
}

constexpr std::array<ConstantType, 4> kAlignConstants = {ConstantType::k32, ConstantType::k32,
                                                         ConstantType::k16, ConstantType::k32};

constexpr Opcode kOpcodes[] = {
    valu("v_nop", [](const Instruction&, Wave&) {}),
    valu("v_mov_b32", k1<U32, mov>, kMoves),
    valu("v_not_b32", k1<U32, bit_not>),
    valu("v_bfrev_b32", k1<U32, reverse>),
    valu("v_clz_i32_u32", map1<I32, U32, leading_zeros>),
    valu("v_ctz_i32_b32", map1<I32, U32, trailing_zeros>),
    valu("v_cls_i32", map1<I32, U32, leading_signs>),
    valu("v_and_b32", k2<U32, bit_and>),
    valu("v_or_b32", k2<U32, bit_or>),
    valu("v_xor_b32", k2<U32, bit_xor>),
    valu("v_xnor_b32", k2<U32, bit_xnor>),
    valu("v_lshlrev_b32", k2<U32, shift_left>),
    valu("v_lshrrev_b32", k2<U32, shift_right>),
    valu("v_ashrrev_i32", k2<I32, shift_right_signed>),
    clamped("v_add_nc_u32", k2<U32, add>, saturate_if_clamped<k2<U32, add_saturating>>),
    clamped("v_sub_nc_u32", k2<U32, subtract>, saturate_if_clamped<k2<U32, subtract_saturating>>),
    clamped("v_subrev_nc_u32", k2<U32, subtract_reversed>,
            saturate_if_clamped<k2<U32, subtract_reversed_saturating>>),
    clamped("v_add_nc_i32", k2<U32, add>, saturate_if_clamped<k2<I32, add_signed_saturating>>),
    clamped("v_sub_nc_i32", k2<U32, subtract>,
            saturate_if_clamped<k2<I32, subtract_signed_saturating>>),
    carrying<Carry::kAdd, false>("v_add_co_u32"),
    carrying<Carry::kSubtract, false>("v_sub_co_u32"),
    carrying<Carry::kSubtractReversed, false>("v_subrev_co_u32"),
    carrying<Carry::kAdd, true>("v_add_co_ci_u32"),
    carrying<Carry::kSubtract, true>("v_sub_co_ci_u32"),
    carrying<Carry::kSubtractReversed, true>("v_subrev_co_ci_u32"),
    valu("v_mul_lo_u32", k2<U32, multiply>),
    valu("v_mul_hi_u32", k2<U32, multiply_high>),
    valu("v_mul_hi_i32", k2<I32, multiply_high_signed>),
    valu("v_mul_u32_u24", k2<U32, multiply24>),
    valu("v_mul_hi_u32_u24", k2<U32, multiply24_high>),
    valu("v_mul_i32_i24", k2<I32, multiply24_signed>),
    valu("v_mul_hi_i32_i24", k2<I32, multiply24_high_signed>),
    valu("v_mad_u32_u24", k3<U32, multiply24_add>),
    valu("v_mad_i32_i24", k3<U32, multiply24_add_signed>),
    valu("v_min_u32", k2<U32, smaller>),
    valu("v_max_u32", k2<U32, larger>),
    valu("v_min_i32", k2<I32, smaller_signed>),
    valu("v_max_i32", k2<I32, larger_signed>),
    valu("v_min3_u32", k3<U32, min3<u32>>),
    valu("v_max3_u32", k3<U32, max3<u32>>),
    valu("v_med3_u32", k3<U32, med3<u32>>),
    valu("v_min3_i32", k3<I32, min3<i32>>),
    valu("v_max3_i32", k3<I32, max3<i32>>),
    valu("v_med3_i32", k3<I32, med3<i32>>),
    valu("v_minmax_u32", k3<U32, min_max<u32>>),
    valu("v_maxmin_u32", k3<U32, max_min<u32>>),
    valu("v_minmax_i32", k3<I32, min_max<i32>>),
    valu("v_maxmin_i32", k3<I32, max_min<i32>>),
    valu("v_add3_u32", k3<U32, add3>),
    valu("v_or3_b32", k3<U32, or3>),
    valu("v_xor3_b32", k3<U32, xor3>),
    valu("v_and_or_b32", k3<U32, and_or>),
    valu("v_lshl_add_u32", k3<U32, shift_add>),
    valu("v_add_lshl_u32", k3<U32, add_shift>),
    valu("v_lshl_or_b32", k3<U32, shift_or>),
    valu("v_xad_u32", k3<U32, xor_add>),
    valu("v_bfi_b32", k3<U32, bit_insert>),
    valu("v_bfm_b32", k2<U32, field_mask>),
    valu("v_bfe_u32", k3<U32, extract>),
    valu("v_bfe_i32", map3<I32, U32, U32, U32, extract_signed>),
    valu("v_alignbit_b32", map3<U32, U32, U32, U16, align_bits>, kNoFlags, kAlignConstants),
    valu("v_alignbyte_b32", map3<U32, U32, U32, U16, align_bytes>, kNoFlags, kAlignConstants),
    valu("v_bcnt_u32_b32", k2<U32, count_bits>),
    valu("v_perm_b32", k3<U32, permute>),
    valu("v_sad_u8", k3<U32, sad_u8>),
    valu("v_sad_hi_u8", k3<U32, sad_hi_u8>),
    valu("v_msad_u8", k3<U32, msad_u8>),
    valu("v_sad_u16", k3<U32, sad_u16>),
    valu("v_sad_u32", k3<U32, sad_u32>),
    valu("v_lerp_u8", k3<U32, lerp_u8>),
};

}  // namespace

std::span<const Opcode> vector_integer_opcodes() { return kOpcodes; }

}  // namespace radiance::emulator
