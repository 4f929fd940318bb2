#include "emulator/matrix_math.hpp"

#include <array>
#include <cstring>
#include <type_traits>

#include "emulator/matrix_layout.hpp"
#include "numerics/bf16.hpp"
#include "numerics/f16.hpp"

// The bodies are inlined into one function an instruction set, so they must be inlined at any
// level.
#define RADIANCE_INLINE inline __attribute__((always_inline))

namespace radiance::emulator {
namespace {

// Half a register row: the sixteen lanes of one half of the wave.
using F32x16 = float __attribute__((vector_size(64)));
using I32x16 = i32 __attribute__((vector_size(64)));
using U32x16 = u32 __attribute__((vector_size(64)));

template <class Vector, class From>
RADIANCE_INLINE void load(Vector& v, const From* from) {
  static_assert(sizeof(Vector) == 16 * sizeof(From));
  std::memcpy(&v, from, sizeof v);
}

template <class Vector, class To>
RADIANCE_INLINE void store(To* to, const Vector& v) {
  static_assert(sizeof(Vector) == 16 * sizeof(To));
  std::memcpy(to, &v, sizeof v);
}

// By reference, as by value the calling convention of clang depends on the instruction set.
template <class To, class From>
RADIANCE_INLINE void reinterpret(To& to, const From& from) {
  static_assert(sizeof(To) == sizeof(From));
  std::memcpy(&to, &from, sizeof to);
}

RADIANCE_INLINE void choose(U32x16& v, const I32x16& condition, const U32x16& otherwise) {
  U32x16 mask;
  reinterpret(mask, condition);
  v = (v & mask) | (otherwise & ~mask);
}

// A format whose magnitude is the upper bits of an fp32's once the exponent is rebased, with
// subnormals of 2^-kSubnormalUnit. Subnormals go through an integer conversion: multiplying a tiny
// float up is exact too but takes a microcode assist an element.
template <int kBits, int kMantissa, int kBias, int kSubnormalUnit, u32 kFirstSpecial>
struct SmallFloatElement {
  using Value = float;
  using Vector = F32x16;
  static constexpr int bits = kBits;
  static constexpr bool sixteen = kBits == 16;

  RADIANCE_INLINE static void decode(F32x16& out, const U32x16& code, bool) {
    constexpr u32 magnitude_mask = (1u << (kBits - 1)) - 1;
    const U32x16 magnitude = code & magnitude_mask;
    const U32x16 sign = (code >> (kBits - 1)) << 31;
    const U32x16 shifted = magnitude << (23 - kMantissa);
    U32x16 value = shifted + (static_cast<u32>(127 - kBias) << 23);
    I32x16 signed_magnitude;
    reinterpret(signed_magnitude, magnitude);
    const F32x16 tiny = __builtin_convertvector(signed_magnitude, F32x16) *
                        float_from_bits(static_cast<u32>(127 - kSubnormalUnit) << 23);
    U32x16 subnormal;
    reinterpret(subnormal, tiny);
    choose(value, signed_magnitude >= (1 << kMantissa), subnormal);
    const U32x16 special = kMantissa == 3 ? U32x16{} + 0x7fc00000u : shifted | 0x7f800000u;
    choose(value, signed_magnitude < static_cast<i32>(kFirstSpecial), special);
    value |= sign;
    reinterpret(out, value);
  }
};

using Fp8 = SmallFloatElement<8, 3, 7, 9, 0x7f>;
using Bf8 = SmallFloatElement<8, 2, 15, 16, 0x7c>;
using F16 = SmallFloatElement<16, 10, 15, 24, 0x7c00>;

struct Bf16 {
  using Value = float;
  using Vector = F32x16;
  static constexpr int bits = 16;
  static constexpr bool sixteen = true;
  RADIANCE_INLINE static void decode(F32x16& out, const U32x16& code, bool) {
    const U32x16 value = code << 16;
    reinterpret(out, value);
  }
};

template <int kBits>
struct IntegerElement {
  using Value = i32;
  using Vector = I32x16;
  static constexpr int bits = kBits;
  static constexpr bool sixteen = false;
  RADIANCE_INLINE static void decode(I32x16& out, const U32x16& code, bool is_signed) {
    const U32x16 top = code << (32 - kBits);
    reinterpret(out, is_signed ? top : code);
    if (is_signed) out >>= 32 - kBits;
  }
};

// values[k][row]; k counts the elements of the lower lanes first.
template <class Element, int kElements>
RADIANCE_INLINE void unpack(typename Element::Value (*values)[16], const RegisterRow* registers,
                            bool negate_even, bool negate_odd) {
  constexpr int per_register = 32 / Element::bits;
  constexpr u32 mask = (1u << Element::bits) - 1;
  for (int half = 0; half < 2; ++half) {
    for (int e = 0; e < kElements; ++e) {
      U32x16 word;
      load(word, registers[e / per_register] + 16 * half);
      const U32x16 code = (word >> (Element::bits * (e % per_register))) & mask;
      typename Element::Vector v;
      Element::decode(v, code, negate_even);
      if constexpr (Element::sixteen) {
        if (e % 2 ? negate_odd : negate_even) v = -v;
      }
      store(values[half * kElements + e], v);
    }
  }
}

// Forms of C and D: sums[m][n] is what is accumulated.
struct F32Result {
  static constexpr int registers = 8;
  RADIANCE_INLINE static void read(F32x16& v, const RegisterRow* c, int m, bool magnitude,
                                   bool negate) {
    U32x16 word;
    load(word, c[result_register(m)] + 16 * (m / 8));
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
  RADIANCE_INLINE static void read(F32x16& v, const RegisterRow* c, int m, bool magnitude,
                                   bool negate) {
    U32x16 word;
    load(word, c[result_register(m) / 2] + 16 * (m / 8));
    word = (word >> (16 * (m % 2))) & (magnitude ? 0x7fffu : 0xffffu);
    if (negate) word ^= 0x8000u;
    Element::decode(v, word, false);
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

u16 encode_f16(float x) { return f32_to_f16(x); }
u16 encode_bf16(float x) { return f32_to_bf16(x); }
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

  RADIANCE_INLINE static void run(const MatrixOperands& o, const MatrixModifiers& modifiers) {
    using Value = typename A::Value;
    using Vector = typename A::Vector;
    alignas(64) Value a[terms][16], b[2 * b_elements][16], sums[16][16];
    const u8 lo = modifiers.neg_lo, hi = modifiers.neg_hi;
    unpack<A, kAElements>(a, o.a, lo & 1, hi & 1);
    unpack<B, b_elements>(b, o.b, lo & 2, hi & 2);
    u8 b_rows[terms][16];
    if constexpr (kSparse) sparse_rows<kAElements>(b_rows, *o.index, modifiers.index_key);
    for (int m = 0; m < 16; ++m) {
      Vector sum{};
      if constexpr (!std::is_same_v<Result, I32Result>) {
        Result::read(sum, o.c, m, hi & 4, lo & 4);
      }
#pragma GCC unroll 16
      for (int t = 0; t < terms; ++t) {
        Vector row;
        load(row, b[kSparse ? b_rows[t][m] : t]);
        sum += a[t][m] * row;
      }
      store(sums[m], sum);
    }
    if constexpr (std::is_same_v<Result, I32Result>) {
      Result::add(o.d, sums, o.c, modifiers.clamp);
    } else {
      Result::write(o.d, sums, modifiers.clamp);
    }
  }
};

template <class Product>
void run_portable(const MatrixOperands& o, const MatrixModifiers& m) {
  Product::run(o, m);
}
#if defined(__x86_64__)
template <class Product>
__attribute__((target("avx2"))) void run_avx2(const MatrixOperands& o, const MatrixModifiers& m) {
  Product::run(o, m);
}
template <class Product>
__attribute__((target("avx2,avx512f,avx512bw,avx512vl,avx512dq"))) void run_avx512(
    const MatrixOperands& o, const MatrixModifiers& m) {
  Product::run(o, m);
}
#endif

enum class Level { kPortable, kAvx2, kAvx512 };

template <Level level, class A, class B, class Result, int kAElements, bool kSparse>
constexpr MatrixInstruction instruction(std::string_view name) {
  using Product = MatrixProduct<A, B, Result, kAElements, kSparse>;
  void (*run)(const MatrixOperands&, const MatrixModifiers&) = run_portable<Product>;
#if defined(__x86_64__)
  if constexpr (level == Level::kAvx2) run = run_avx2<Product>;
  if constexpr (level == Level::kAvx512) run = run_avx512<Product>;
#endif
  return {name,
          static_cast<u8>(kAElements * A::bits / 32),
          static_cast<u8>(Product::b_elements * B::bits / 32),
          Result::registers,
          kSparse,
          run};
}

using Iu8 = IntegerElement<8>;
using Iu4 = IntegerElement<4>;

template <Level L>
constexpr std::array kInstructions = {
    instruction<L, F16, F16, F32Result, 8, false>("v_wmma_f32_16x16x16_f16"),
    instruction<L, Bf16, Bf16, F32Result, 8, false>("v_wmma_f32_16x16x16_bf16"),
    instruction<L, F16, F16, F16Result, 8, false>("v_wmma_f16_16x16x16_f16"),
    instruction<L, Bf16, Bf16, Bf16Result, 8, false>("v_wmma_bf16_16x16x16_bf16"),
    instruction<L, Iu8, Iu8, I32Result, 8, false>("v_wmma_i32_16x16x16_iu8"),
    instruction<L, Iu4, Iu4, I32Result, 8, false>("v_wmma_i32_16x16x16_iu4"),
    instruction<L, Fp8, Fp8, F32Result, 8, false>("v_wmma_f32_16x16x16_fp8_fp8"),
    instruction<L, Fp8, Bf8, F32Result, 8, false>("v_wmma_f32_16x16x16_fp8_bf8"),
    instruction<L, Bf8, Fp8, F32Result, 8, false>("v_wmma_f32_16x16x16_bf8_fp8"),
    instruction<L, Bf8, Bf8, F32Result, 8, false>("v_wmma_f32_16x16x16_bf8_bf8"),
    instruction<L, Iu4, Iu4, I32Result, 16, false>("v_wmma_i32_16x16x32_iu4"),
    instruction<L, F16, F16, F32Result, 8, true>("v_swmmac_f32_16x16x32_f16"),
    instruction<L, Bf16, Bf16, F32Result, 8, true>("v_swmmac_f32_16x16x32_bf16"),
    instruction<L, F16, F16, F16Result, 8, true>("v_swmmac_f16_16x16x32_f16"),
    instruction<L, Bf16, Bf16, Bf16Result, 8, true>("v_swmmac_bf16_16x16x32_bf16"),
    instruction<L, Iu8, Iu8, I32Result, 8, true>("v_swmmac_i32_16x16x32_iu8"),
    instruction<L, Iu4, Iu4, I32Result, 8, true>("v_swmmac_i32_16x16x32_iu4"),
    instruction<L, Iu4, Iu4, I32Result, 16, true>("v_swmmac_i32_16x16x64_iu4"),
    instruction<L, Fp8, Fp8, F32Result, 8, true>("v_swmmac_f32_16x16x32_fp8_fp8"),
    instruction<L, Fp8, Bf8, F32Result, 8, true>("v_swmmac_f32_16x16x32_fp8_bf8"),
    instruction<L, Bf8, Fp8, F32Result, 8, true>("v_swmmac_f32_16x16x32_bf8_fp8"),
    instruction<L, Bf8, Bf8, F32Result, 8, true>("v_swmmac_f32_16x16x32_bf8_bf8"),
};

static_assert(kInstructions<Level::kPortable>.size() == kMatrixInstructions);

}  // namespace

std::span<const MatrixInstruction> matrix_instructions() {
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
      __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512dq")) {
    return kInstructions<Level::kAvx512>;
  }
  if (__builtin_cpu_supports("avx2")) return kInstructions<Level::kAvx2>;
#endif
  return kInstructions<Level::kPortable>;
}

const MatrixInstruction* find_matrix_instruction(std::string_view name) {
  for (const MatrixInstruction& instruction : matrix_instructions()) {
    if (instruction.name == name) return &instruction;
  }
  return nullptr;
}

}  // namespace radiance::emulator
