// The arithmetic of matrix_math.hpp, compiled once for the emulator's instruction set and once for
// AVX-512.
//
// Everything is in an unnamed namespace and uses no function of the standard library, so that an
// object made for AVX-512 leaves no copy that the linker could pick for an older processor.
#pragma once

#include <cstring>

#if defined(__FMA__)
#include <immintrin.h>
#endif

#include "emulator/matrix_layout.hpp"
#include "emulator/matrix_math.hpp"
#include "numerics/bf16.hpp"
#include "numerics/e4m3.hpp"
#include "numerics/e5m2.hpp"
#include "numerics/f16.hpp"

#define RADIANCE_INLINE inline __attribute__((always_inline))

namespace radiance::emulator {
namespace {

// A row of a matrix is sixteen lanes, half a register; vectors are as wide as the instruction set
// has them, since compilers take wider ones apart into single elements.
#if defined(__AVX512F__)
constexpr int kWidth = 16;
#elif defined(__AVX2__)
constexpr int kWidth = 8;
#else
constexpr int kWidth = 4;
#endif
constexpr int kBlocks = 16 / kWidth;
using F32Vector = float __attribute__((vector_size(4 * kWidth)));
using I32Vector = i32 __attribute__((vector_size(4 * kWidth)));
using U32Vector = u32 __attribute__((vector_size(4 * kWidth)));

template <class Vector, class From>
RADIANCE_INLINE void load(Vector& v, const From* from) {
  static_assert(sizeof(Vector) == kWidth * sizeof(From));
  std::memcpy(&v, from, sizeof v);
}

template <class Vector, class To>
RADIANCE_INLINE void store(To* to, const Vector& v) {
  static_assert(sizeof(Vector) == kWidth * sizeof(To));
  std::memcpy(to, &v, sizeof v);
}

template <class To, class From>
RADIANCE_INLINE void reinterpret(To& to, const From& from) {
  static_assert(sizeof(To) == sizeof(From));
  std::memcpy(&to, &from, sizeof to);
}

RADIANCE_INLINE void choose(U32Vector& v, const I32Vector& condition, const U32Vector& otherwise) {
  U32Vector mask;
  reinterpret(mask, condition);
  v = (v & mask) | (otherwise & ~mask);
}

// A format whose magnitude is the upper bits of an fp32's once the exponent is rebased, with
// subnormals of 2^-kSubnormalUnit. Subnormals go through an integer conversion: multiplying a tiny
// float up is exact too but takes a microcode assist an element.
template <int kBits, int kMantissa, int kBias, int kSubnormalUnit, u32 kFirstSpecial>
struct SmallFloatElement {
  using Value = float;
  using Vector = F32Vector;
  static constexpr int bits = kBits;
  static constexpr bool sixteen = kBits == 16;

  RADIANCE_INLINE static void decode_word(F32Vector* out, const U32Vector& word, bool) {
    for (int i = 0; i < 32 / kBits; ++i) {
      decode(out[i], (word >> (kBits * i)) & ((1u << kBits) - 1));
    }
  }

  RADIANCE_INLINE static void decode(F32Vector& out, const U32Vector& code) {
    constexpr u32 magnitude_mask = (1u << (kBits - 1)) - 1;
    const U32Vector magnitude = code & magnitude_mask;
    const U32Vector sign = (code >> (kBits - 1)) << 31;
    const U32Vector shifted = magnitude << (23 - kMantissa);
    U32Vector value = shifted + (static_cast<u32>(127 - kBias) << 23);
    I32Vector signed_magnitude;
    reinterpret(signed_magnitude, magnitude);
    const F32Vector tiny = __builtin_convertvector(signed_magnitude, F32Vector) *
                           float_from_bits(static_cast<u32>(127 - kSubnormalUnit) << 23);
    U32Vector subnormal;
    reinterpret(subnormal, tiny);
    choose(value, signed_magnitude >= (1 << kMantissa), subnormal);
    const U32Vector special = kMantissa == 3 ? U32Vector{} + 0x7fc00000u : shifted | 0x7f800000u;
    choose(value, signed_magnitude < static_cast<i32>(kFirstSpecial), special);
    value |= sign;
    reinterpret(out, value);
  }
};

#if defined(__AVX512BW__)
// Eight-bit floats are exact in bfloat16, the upper half of an fp32: two of a word's four bytes are
// looked up at once. Three times fewer operations than the arithmetic above.
template <float (*decode_byte)(u8)>
struct TableElement {
  using Value = float;
  using Vector = F32Vector;
  static constexpr int bits = 8;
  static constexpr bool sixteen = false;

  struct Table {
    alignas(64) u16 magnitude[128];
  };
  static constexpr Table make() {
    Table table{};
    for (int b = 0; b < 128; ++b) {
      table.magnitude[b] = static_cast<u16>(float_bits(decode_byte(static_cast<u8>(b))) >> 16);
    }
    return table;
  }
  static constexpr Table kTable = make();

  RADIANCE_INLINE static void decode_word(F32Vector* out, const U32Vector& word, bool) {
    const auto* t = reinterpret_cast<const __m512i*>(kTable.magnitude);
    for (int pair = 0; pair < 2; ++pair) {
      const U32Vector shifted = (word >> (8 * pair)) & 0x00ff00ffu;
      __m512i code;
      reinterpret(code, shifted);
      const __m512i low = _mm512_permutex2var_epi16(t[0], code, t[1]);
      const __m512i high = _mm512_permutex2var_epi16(t[2], code, t[3]);
      const __mmask32 is_high = _mm512_test_epi16_mask(code, _mm512_set1_epi16(0x40));
      const __m512i magnitude = _mm512_mask_blend_epi16(is_high, low, high);
      U32Vector value;
      reinterpret(value, magnitude);
      value |= (shifted & 0x00800080u) << 8;
      reinterpret(out[pair], static_cast<U32Vector>(value << 16));
      reinterpret(out[pair + 2], static_cast<U32Vector>(value & 0xffff0000u));
    }
  }
};
constexpr float decode_fp8(u8 b) { return e4m3_to_f32(b); }
constexpr float decode_bf8(u8 b) { return e5m2_to_f32(b); }
using Fp8 = TableElement<decode_fp8>;
using Bf8 = TableElement<decode_bf8>;
#else
using Fp8 = SmallFloatElement<8, 3, 7, 9, 0x7f>;
using Bf8 = SmallFloatElement<8, 2, 15, 16, 0x7c>;
#endif
using F16 = SmallFloatElement<16, 10, 15, 24, 0x7c00>;

struct Bf16 {
  using Value = float;
  using Vector = F32Vector;
  static constexpr int bits = 16;
  static constexpr bool sixteen = true;
  RADIANCE_INLINE static void decode_word(F32Vector* out, const U32Vector& word, bool) {
    decode(out[0], word);
    reinterpret(out[1], static_cast<U32Vector>(word & 0xffff0000u));
  }
  RADIANCE_INLINE static void decode(F32Vector& out, const U32Vector& code) {
    reinterpret(out, static_cast<U32Vector>(code << 16));
  }
};

template <int kBits>
struct IntegerElement {
  using Value = i32;
  using Vector = I32Vector;
  static constexpr int bits = kBits;
  static constexpr bool sixteen = false;
  RADIANCE_INLINE static void decode_word(I32Vector* out, const U32Vector& word, bool is_signed) {
    for (int i = 0; i < 32 / kBits; ++i) {
      const U32Vector top = word << (32 - kBits - kBits * i);
      reinterpret(out[i], is_signed ? top : static_cast<U32Vector>(top >> (32 - kBits)));
      if (is_signed) out[i] >>= 32 - kBits;
    }
  }
};

// values[k][row]; k counts the elements of the lower lanes first.
template <class Element, int kElements>
RADIANCE_INLINE void unpack(typename Element::Value (*values)[16], const RegisterRow* registers,
                            bool negate_even, bool negate_odd) {
  constexpr int per_register = 32 / Element::bits;
  for (int half = 0; half < 2; ++half) {
    for (int r = 0; r < kElements / per_register; ++r) {
      for (int lane = 0; lane < 16; lane += kWidth) {
        U32Vector word;
        load(word, registers[r] + 16 * half + lane);
        typename Element::Vector v[per_register];
        Element::decode_word(v, word, negate_even);
        for (int i = 0; i < per_register; ++i) {
          if constexpr (Element::sixteen) {
            if (i % 2 ? negate_odd : negate_even) v[i] = -v[i];
          }
          store(values[half * kElements + r * per_register + i] + lane, v[i]);
        }
      }
    }
  }
}

// Forms of C and D: sums[m][n] is what is accumulated.
struct F32Result {
  static constexpr int registers = 8;
  RADIANCE_INLINE static void read(F32Vector& v, const RegisterRow* c, int m, int n, bool magnitude,
                                   bool negate) {
    U32Vector word;
    load(word, c[result_register(m)] + 16 * (m / 8) + n);
    if (magnitude) word &= 0x7fffffffu;
    if (negate) word ^= 0x80000000u;
    reinterpret(v, word);
  }
  RADIANCE_INLINE static void write(RegisterRow* d, const float (*sums)[16], bool) {
    for (int m = 0; m < 16; ++m) {
      std::memcpy(d[result_register(m)] + 16 * (m / 8), sums[m], 64);
    }
  }
};

template <class Element, u16 (*encode)(float)>
struct SixteenBitResult {
  static constexpr int registers = 4;
  RADIANCE_INLINE static void read(F32Vector& v, const RegisterRow* c, int m, int n, bool magnitude,
                                   bool negate) {
    U32Vector word;
    load(word, c[result_register(m) / 2] + 16 * (m / 8) + n);
    word = (word >> (16 * (m % 2))) & (magnitude ? 0x7fffu : 0xffffu);
    if (negate) word ^= 0x8000u;
    Element::decode(v, word);
  }
  RADIANCE_INLINE static void write(RegisterRow* d, const float (*sums)[16], bool) {
    for (int m = 0; m < 16; m += 2) {
      u32* words = d[result_register(m) / 2] + 16 * (m / 8);
      for (int n = 0; n < 16; ++n) {
        const u32 low = encode(sums[m][n]), high = encode(sums[m + 1][n]);
        words[n] = low | high << 16;
      }
    }
  }
};

RADIANCE_INLINE u16 encode_f16(float x) { return f32_to_f16(x); }
RADIANCE_INLINE u16 encode_bf16(float x) { return f32_to_bf16(x); }
using F16Result = SixteenBitResult<F16, encode_f16>;
using Bf16Result = SixteenBitResult<Bf16, encode_bf16>;

// Sums the products alone, and adds C at the end: integers are exact until then.
struct I32Result {
  static constexpr int registers = 8;
  RADIANCE_INLINE static void add(RegisterRow* d, const i32 (*sums)[16], const RegisterRow* c,
                                  bool saturate) {
    for (int m = 0; m < 16; ++m) {
      const u32* from = c[result_register(m)] + 16 * (m / 8);
      u32* to = d[result_register(m)] + 16 * (m / 8);
      for (int n = 0; n < 16; ++n) {
        const long long wide = static_cast<long long>(static_cast<i32>(from[n])) + sums[m][n];
        long long kept = wide;
        if (saturate)
          kept = wide > 0x7fffffffLL ? 0x7fffffffLL : wide < -0x80000000LL ? -0x80000000LL : wide;
        to[n] = static_cast<u32>(kept);
      }
    }
  }
};

template <class A, class B>
inline constexpr bool same_type = false;
template <class A>
inline constexpr bool same_type<A, A> = true;

// sum += a * row. Where products are exact, a fused multiply-add gives what two instructions give.
template <bool kExact>
RADIANCE_INLINE void multiply_add(F32Vector& sum, float a, const F32Vector& row) {
#if defined(__AVX512F__)
  if constexpr (kExact) {
    __m512 s, r;
    reinterpret(s, sum);
    reinterpret(r, row);
    reinterpret(sum, _mm512_fmadd_ps(_mm512_set1_ps(a), r, s));
    return;
  }
#elif defined(__AVX2__) && defined(__FMA__)
  if constexpr (kExact) {
    __m256 s, r;
    reinterpret(s, sum);
    reinterpret(r, row);
    s = _mm256_fmadd_ps(_mm256_set1_ps(a), r, s);
    reinterpret(sum, s);
    return;
  }
#endif
  sum += a * row;
}
template <bool>
RADIANCE_INLINE void multiply_add(I32Vector& sum, i32 a, const I32Vector& row) {
  sum += a * row;
}

// b_rows[t][m]: the row of B that A's stored element t multiplies in row m.
template <int kElements>
RADIANCE_INLINE void sparse_rows(u8 (*b_rows)[16], const RegisterRow& index, u8 index_key) {
  const int shift = kElements == 8 && index_key ? 16 : 0;
  for (int half = 0; half < 2; ++half) {
    for (int e = 0; e < kElements; ++e) {
      for (int m = 0; m < 16; ++m) {
        const u32 word = index[m + 16 * half] >> shift;
        b_rows[half * kElements + e][m] =
            static_cast<u8>(2 * kElements * half + 4 * (e / 2) + sparse_position(word, e));
      }
    }
  }
}

template <class A, class B, class Result, int kAElements, bool kSparse>
struct MatrixProduct {
  static constexpr int b_elements = kSparse ? 2 * kAElements : kAElements;
  static constexpr int terms = 2 * kAElements;  // products an element of D
  // A product of bfloat16 may be subnormal, and is rounded then.
  static constexpr bool kExact = !same_type<A, Bf16>;

  static void run(const MatrixOperands& o, const MatrixModifiers& modifiers) {
    using Value = typename A::Value;
    using Vector = typename A::Vector;
    alignas(64) Value a[terms][16], b[2 * b_elements][16], sums[16][16];
    const u8 lo = modifiers.neg_lo, hi = modifiers.neg_hi;
    unpack<A, kAElements>(a, o.a, lo & 1, hi & 1);
    unpack<B, b_elements>(b, o.b, lo & 2, hi & 2);
    u8 b_rows[terms][16];
    if constexpr (kSparse) sparse_rows<kAElements>(b_rows, *o.index, modifiers.index_key);
    for (int m = 0; m < 16; ++m) {
      Vector sum[kBlocks] = {};
      if constexpr (!same_type<Result, I32Result>) {
        for (int i = 0; i < kBlocks; ++i) Result::read(sum[i], o.c, m, i * kWidth, hi & 4, lo & 4);
      }
#pragma GCC unroll 16
      for (int t = 0; t < terms; ++t) {
        for (int i = 0; i < kBlocks; ++i) {
          Vector row;
          load(row, b[kSparse ? b_rows[t][m] : t] + i * kWidth);
          multiply_add<kExact>(sum[i], a[t][m], row);
        }
      }
      for (int i = 0; i < kBlocks; ++i) store(sums[m] + i * kWidth, sum[i]);
    }
    if constexpr (same_type<Result, I32Result>) {
      Result::add(o.d, sums, o.c, modifiers.clamp);
    } else {
      Result::write(o.d, sums, modifiers.clamp);
    }
  }
};

using Iu8 = IntegerElement<8>;
using Iu4 = IntegerElement<4>;

template <class A, class B, class Result, int kAElements, bool kSparse>
constexpr MatrixInstruction instruction(const char* name) {
  using Product = MatrixProduct<A, B, Result, kAElements, kSparse>;
  return {name,
          static_cast<u8>(kAElements * A::bits / 32),
          static_cast<u8>(Product::b_elements * B::bits / 32),
          Result::registers,
          kSparse,
          Product::run};
}

constexpr MatrixInstruction kInstructions[kMatrixInstructions] = {
    instruction<F16, F16, F32Result, 8, false>("v_wmma_f32_16x16x16_f16"),
    instruction<Bf16, Bf16, F32Result, 8, false>("v_wmma_f32_16x16x16_bf16"),
    instruction<F16, F16, F16Result, 8, false>("v_wmma_f16_16x16x16_f16"),
    instruction<Bf16, Bf16, Bf16Result, 8, false>("v_wmma_bf16_16x16x16_bf16"),
    instruction<Iu8, Iu8, I32Result, 8, false>("v_wmma_i32_16x16x16_iu8"),
    instruction<Iu4, Iu4, I32Result, 8, false>("v_wmma_i32_16x16x16_iu4"),
    instruction<Fp8, Fp8, F32Result, 8, false>("v_wmma_f32_16x16x16_fp8_fp8"),
    instruction<Fp8, Bf8, F32Result, 8, false>("v_wmma_f32_16x16x16_fp8_bf8"),
    instruction<Bf8, Fp8, F32Result, 8, false>("v_wmma_f32_16x16x16_bf8_fp8"),
    instruction<Bf8, Bf8, F32Result, 8, false>("v_wmma_f32_16x16x16_bf8_bf8"),
    instruction<Iu4, Iu4, I32Result, 16, false>("v_wmma_i32_16x16x32_iu4"),
    instruction<F16, F16, F32Result, 8, true>("v_swmmac_f32_16x16x32_f16"),
    instruction<Bf16, Bf16, F32Result, 8, true>("v_swmmac_f32_16x16x32_bf16"),
    instruction<F16, F16, F16Result, 8, true>("v_swmmac_f16_16x16x32_f16"),
    instruction<Bf16, Bf16, Bf16Result, 8, true>("v_swmmac_bf16_16x16x32_bf16"),
    instruction<Iu8, Iu8, I32Result, 8, true>("v_swmmac_i32_16x16x32_iu8"),
    instruction<Iu4, Iu4, I32Result, 8, true>("v_swmmac_i32_16x16x32_iu4"),
    instruction<Iu4, Iu4, I32Result, 16, true>("v_swmmac_i32_16x16x64_iu4"),
    instruction<Fp8, Fp8, F32Result, 8, true>("v_swmmac_f32_16x16x32_fp8_fp8"),
    instruction<Fp8, Bf8, F32Result, 8, true>("v_swmmac_f32_16x16x32_fp8_bf8"),
    instruction<Bf8, Fp8, F32Result, 8, true>("v_swmmac_f32_16x16x32_bf8_fp8"),
    instruction<Bf8, Bf8, F32Result, 8, true>("v_swmmac_f32_16x16x32_bf8_bf8"),
};

}  // namespace
}  // namespace radiance::emulator
