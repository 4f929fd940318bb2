// What generated functions are made of: types, and operations that are defined for every input, so
// that two compilers have to agree. Built with -fwrapv and -ffp-contract=off.
#pragma once

#if defined(__HIP__)
#define DEVICE __attribute__((device))
#define KERNEL extern "C" __attribute__((global)) void
#define SHARED __attribute__((shared))
#else
#define DEVICE
#endif
#define INLINE static inline __attribute__((always_inline)) DEVICE

using i8 = signed char;
using u8 = unsigned char;
using i16 = short;
using u16 = unsigned short;
using i32 = int;
using u32 = unsigned;
using i64 = long long;
using u64 = unsigned long long;
using f16 = _Float16;
using f32 = float;
using f64 = double;
using i16x2 = i16 __attribute__((ext_vector_type(2)));
using u16x2 = u16 __attribute__((ext_vector_type(2)));
using i8x4 = i8 __attribute__((ext_vector_type(4)));
using f16x2 = f16 __attribute__((ext_vector_type(2)));
using f32x2 = f32 __attribute__((ext_vector_type(2)));
using i32x2 = i32 __attribute__((ext_vector_type(2)));

// A thread's inputs and its outputs; differential.py knows the layout.
struct Block {
  i32 w[8];
  i64 l[4];
  f32 f[8];
  f64 d[4];
  f16 h[8];
  i16 s[8];
  i8 c[16];
};
static_assert(sizeof(Block) == 176);
// The same for all threads of a launch.
struct Uniform {
  i32 w[4];
  i64 l[2];
  f32 f[4];
  f64 d[2];
};

constexpr int kThreads = 64;
constexpr int kLocalWords = 16;

template <typename To, typename From>
INLINE To bits(From from) {
  static_assert(sizeof(To) == sizeof(From));
  To to;
  __builtin_memcpy(&to, &from, sizeof(To));
  return to;
}

// Shifts by less than the width.
template <typename T>
INLINE T shl(T a, u32 n) {
  return static_cast<T>(a << (n & (sizeof(T) * 8 - 1)));
}
template <typename T>
INLINE T shr(T a, u32 n) {
  return static_cast<T>(a >> (n & (sizeof(T) * 8 - 1)));
}
// Division without its two undefined cases.
template <typename T>
INLINE T divide(T a, T b) {
  return b == 0 || b == static_cast<T>(-1) ? a : static_cast<T>(a / b);
}
template <typename T>
INLINE T remainder(T a, T b) {
  return b == 0 || b == static_cast<T>(-1) ? b : static_cast<T>(a % b);
}
// A float as an integer, where it fits one.
template <typename To, typename From>
INLINE To truncated(From x) {
  constexpr f64 kLimit = sizeof(To) == 8 ? 9.0e18 : sizeof(To) == 4 ? 2.0e9 : 120.0;
  constexpr bool kSigned = static_cast<To>(-1) < static_cast<To>(0);
  const f64 wide = static_cast<f64>(x);
  return wide > (kSigned ? -kLimit : -0.5) && wide < kLimit ? static_cast<To>(x) : To{3};
}

// Hides from the compiler where a value comes from.
template <typename T>
INLINE T opaque(T x) {
#if defined(__HIP_DEVICE_COMPILE__)
  asm("" : "+v"(x));
#endif
  return x;
}

// LLVM 22 takes 0 - x for -x where an instruction can negate its operand (SelectVOP3ModsImpl asks
// for zero where -0 is meant), which is wrong for the sign of zero. With OPAQUE it cannot.
#if defined(OPAQUE)
#define OPERAND(x) opaque(x)
#else
#define OPERAND(x) x
#endif
template <typename T>
INLINE T sum(T a, T b) {
  return OPERAND(a) + OPERAND(b);
}
template <typename T>
INLINE T difference(T a, T b) {
  return OPERAND(a) - OPERAND(b);
}

// A float as a half, by an instruction of its own: LLVM 22 makes f16(a * b) one fma_mix that adds
// +0, which loses the sign of a zero product.
INLINE f16 narrow(f32 x) { return static_cast<f16>(opaque(x)); }
INLINE f16 narrow(f64 x) { return static_cast<f16>(opaque(x)); }
INLINE f16 narrow(f16 x) { return x; }
INLINE f16x2 narrow(f32x2 x) { return f16x2{narrow(x[0]), narrow(x[1])}; }

// Saturating 64-bit sums of values that are no sums to the compiler: where the high word is x + y
// and the carry of the low words c, LLVM 22 makes (x + y) + c one add with carry of x, y and c,
// whose carry out, the saturation, is another one.
template <typename T>
INLINE T add_sat(T a, T b) {
  return __builtin_elementwise_add_sat(opaque(a), opaque(b));
}
template <typename T>
INLINE T sub_sat(T a, T b) {
  return __builtin_elementwise_sub_sat(opaque(a), opaque(b));
}

INLINE u32 high_product(u32 a, u32 b) { return static_cast<u32>((u64{a} * b) >> 32); }
INLINE i32 high_product(i32 a, i32 b) { return static_cast<i32>((i64{a} * b) >> 32); }
INLINE u32 leading_zeros(u32 a) { return static_cast<u32>(__builtin_clz(a | 1)); }
INLINE u32 leading_zeros(u64 a) { return static_cast<u32>(__builtin_clzll(a | 1)); }
INLINE u32 trailing_zeros(u32 a) { return static_cast<u32>(__builtin_ctz(a | 0x80000000)); }
INLINE u32 trailing_zeros(u64 a) {
  return static_cast<u32>(__builtin_ctzll(a | 0x8000000000000000));
}
// A word whose bytes are picked from two by the nibbles of a third.
INLINE u32 pick_bytes(u32 a, u32 b, u32 selector) {
  const u64 both = u64{a} << 32 | b;
  u32 out = 0;
  for (int i = 0; i < 4; ++i) {
    out |= static_cast<u32>(both >> ((selector >> (8 * i) & 7) * 8) & 255) << (8 * i);
  }
  return out;
}
INLINE u32 funnel_shift(u32 high, u32 low, u32 n) {
  return static_cast<u32>((u64{high} << 32 | low) >> (n & 31));
}
INLINE u32 field(u32 a, u32 offset, u32 width) {
  return (a >> (offset & 31)) & ((1U << (width & 31)) - 1);
}
