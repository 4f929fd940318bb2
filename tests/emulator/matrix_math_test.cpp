#include "emulator/matrix_math.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "emulator/matrix_layout.hpp"
#include "numerics/bf16.hpp"
#include "numerics/e4m3.hpp"
#include "numerics/e5m2.hpp"
#include "numerics/f16.hpp"

namespace radiance::emulator {
namespace {

enum class Type { kFp8, kBf8, kF16, kBf16, kIu8, kIu4, kF32, kI32 };

int bits_of(Type t) {
  switch (t) {
    case Type::kIu4:
      return 4;
    case Type::kFp8:
    case Type::kBf8:
    case Type::kIu8:
      return 8;
    case Type::kF16:
    case Type::kBf16:
      return 16;
    default:
      return 32;
  }
}

// The value of a code, by the scalar conversions of numerics/.
double value_of(Type t, u32 code, bool is_signed) {
  switch (t) {
    case Type::kFp8:
      return e4m3_to_f32(static_cast<u8>(code));
    case Type::kBf8:
      return e5m2_to_f32(static_cast<u8>(code));
    case Type::kF16:
      return f16_to_f32(static_cast<u16>(code));
    case Type::kBf16:
      return bf16_to_f32(static_cast<u16>(code));
    case Type::kIu8:
      return is_signed ? static_cast<i8>(code) : static_cast<int>(code);
    case Type::kIu4:
      return is_signed ? static_cast<int>(code ^ 8) - 8 : static_cast<int>(code);
    case Type::kF32:
      return float_from_bits(code);
    case Type::kI32:
      return static_cast<i32>(code);
  }
  return 0;
}

// What an instruction's name says about it.
struct Shape {
  Type a, b, result;
  int k;
};

Type type_named(const std::string& s) {
  if (s == "fp8") return Type::kFp8;
  if (s == "bf8") return Type::kBf8;
  if (s == "f16") return Type::kF16;
  if (s == "bf16") return Type::kBf16;
  if (s == "iu8") return Type::kIu8;
  if (s == "iu4") return Type::kIu4;
  if (s == "f32") return Type::kF32;
  EXPECT_EQ(s, "i32");
  return Type::kI32;
}

Shape shape_of(std::string_view name) {
  std::vector<std::string> words(1);
  for (char c : name) {
    if (c == '_')
      words.emplace_back();
    else
      words.back() += c;
  }
  // v, wmma, f32, 16x16x16, fp8, fp8
  return {type_named(words[4]), type_named(words.size() > 5 ? words[5] : words[4]),
          type_named(words[2]), std::stoi(words[3].substr(6))};
}

struct Registers {
  alignas(64) u32 a[8][32] = {}, b[8][32] = {}, c[8][32] = {}, d[8][32] = {}, index[32] = {};
};

void put(RegisterRow* registers, int lane, int element, int bits, u32 code) {
  const int per = 32 / bits, shift = bits * (element % per);
  u32& word = registers[element / per][lane];
  const u32 mask = bits == 32 ? ~0u : ((1u << bits) - 1) << shift;
  word = (word & ~mask) | ((code << shift) & mask);
}

u32 get(const RegisterRow* registers, int lane, int element, int bits) {
  const int per = 32 / bits, shift = bits * (element % per);
  const u32 word = registers[element / per][lane] >> shift;
  return bits == 32 ? word : word & ((1u << bits) - 1);
}

void put_result(RegisterRow* registers, int m, int n, int bits, u32 code) {
  put(registers, n + 16 * (m / 8), m % 8, bits, code);
}

u32 get_result(const RegisterRow* registers, int m, int n, int bits) {
  return get(registers, n + 16 * (m / 8), m % 8, bits);
}

// Dense matrices of codes, asymmetric, and the registers that hold them.
struct Problem {
  Shape shape;
  bool sparse;
  std::vector<u32> a, b, c;  // [m][k], [n][k], [m][n]
  std::vector<bool> a_kept;  // [m][k]: stored
  Registers registers;

  Problem(const MatrixInstruction& instruction, std::mt19937& rng, u8 index_key,
          u32 (*code)(Type, std::mt19937&))
      : shape(shape_of(instruction.name)), sparse(instruction.sparse) {
    const int k = shape.k, stored = sparse ? k / 2 : k;
    a.assign(16 * k, 0);
    b.resize(16 * k);
    c.resize(256);
    a_kept.assign(16 * k, false);
    const int a_elements = stored / 2, b_elements = k / 2;
    for (int m = 0; m < 16; ++m) {
      for (int e = 0; e < stored; ++e) {
        const int lane = operand_lane(m, e, a_elements), element = operand_element(e, a_elements);
        int dense = e;
        if (sparse) {
          // Groups of four keep positions p < q.
          static constexpr u32 kPairs[6][2] = {{0, 1}, {0, 2}, {0, 3}, {1, 2}, {1, 3}, {2, 3}};
          const int group = e / 2;
          if (e % 2 == 0) pair_ = rng() % 6;
          const u32 position = kPairs[pair_][e % 2];
          dense = 4 * group + static_cast<int>(position);
          const int shift = 2 * element + (a_elements == 8 && index_key ? 16 : 0);
          registers.index[lane] |= position << shift;
        }
        const u32 v = code(shape.a, rng);
        a[m * k + dense] = v;
        a_kept[m * k + dense] = true;
        put(registers.a, lane, element, bits_of(shape.a), v);
      }
    }
    if (sparse && a_elements == 8) {
      // The other half of the index must not matter.
      for (u32& word : registers.index) word |= (rng() & 0xffffu) << (index_key ? 0 : 16);
    }
    for (int n = 0; n < 16; ++n) {
      for (int e = 0; e < k; ++e) {
        b[n * k + e] = code(shape.b, rng);
        put(registers.b, operand_lane(n, e, b_elements), operand_element(e, b_elements),
            bits_of(shape.b), b[n * k + e]);
      }
    }
    for (int m = 0; m < 16; ++m) {
      for (int n = 0; n < 16; ++n) {
        c[m * 16 + n] = code(shape.result, rng);
        put_result(registers.c, m, n, bits_of(shape.result), c[m * 16 + n]);
      }
    }
  }

  void run(const MatrixInstruction& instruction, const MatrixModifiers& modifiers) {
    instruction.run({registers.d, registers.a, registers.b, registers.c, &registers.index},
                    modifiers);
  }

 private:
  u32 pair_ = 0;
};

u32 any_finite(Type t, std::mt19937& rng) {
  for (;;) {
    const u32 code = static_cast<u32>(rng()) & (bits_of(t) == 32 ? ~0u : (1u << bits_of(t)) - 1);
    if (t == Type::kF32) {
      return float_bits(std::ldexp(static_cast<float>(static_cast<i32>(code)), -20));
    }
    if (t == Type::kBf16) {  // sums that stay finite
      const u32 exponent = (code >> 7) & 0xff;
      if (exponent < 100 || exponent > 150) continue;
    }
    if (std::isfinite(value_of(t, code, false))) return code;
  }
}

class EveryMatrixInstruction : public ::testing::TestWithParam<int> {
 protected:
  const MatrixInstruction& instruction() const { return matrix_instructions()[GetParam()]; }
};

// Against sums in double, within the bound of 2k + 2 fp32 roundings; integers exactly.
TEST_P(EveryMatrixInstruction, MatchesExactModelOnAsymmetricMatrices) {
  std::mt19937 rng(20261130u + GetParam());
  for (int trial = 0; trial < 200; ++trial) {
    const u8 index_key = trial & 1;
    Problem p(instruction(), rng, index_key, any_finite);
    const bool integer = p.shape.result == Type::kI32;
    MatrixModifiers modifiers;
    modifiers.index_key = index_key;
    const bool sixteen = bits_of(p.shape.a) == 16;
    modifiers.neg_lo = integer ? trial & 3 : sixteen ? trial & 7 : trial & 4;
    modifiers.neg_hi = integer ? 0 : sixteen ? (trial >> 3) & 7 : (trial >> 3) & 4;
    modifiers.clamp = integer && (trial & 4);
    p.run(instruction(), modifiers);
    const int k = p.shape.k;
    for (int m = 0; m < 16; ++m) {
      for (int n = 0; n < 16; ++n) {
        double sum = 0, magnitude = 0;
        for (int i = 0; i < k; ++i) {
          if (!p.a_kept[m * k + i]) continue;
          double a = value_of(p.shape.a, p.a[m * k + i], modifiers.neg_lo & 1);
          double b = value_of(p.shape.b, p.b[n * k + i], modifiers.neg_lo & 2);
          if (sixteen) {
            // Which half of its register an element of A is in: stored elements are counted.
            int stored = i;
            if (p.sparse) {
              stored = 2 * (i / 4);
              for (int j = i / 4 * 4; j < i; ++j) stored += p.a_kept[m * k + j];
            }
            if ((stored % 2 ? modifiers.neg_hi : modifiers.neg_lo) & 1) a = -a;
            if ((i % 2 ? modifiers.neg_hi : modifiers.neg_lo) & 2) b = -b;
          }
          sum += a * b;
          magnitude += std::abs(a * b);
        }
        double c = value_of(p.shape.result, p.c[m * 16 + n], true);
        if (!integer && (modifiers.neg_hi & 4)) c = std::abs(c);
        if (!integer && (modifiers.neg_lo & 4)) c = -c;
        sum += c;
        magnitude += std::abs(c);
        const u32 code = get_result(p.registers.d, m, n, bits_of(p.shape.result));
        if (integer) {
          if (modifiers.clamp) sum = std::min(std::max(sum, -2147483648.0), 2147483647.0);
          EXPECT_EQ(code, static_cast<u32>(static_cast<long long>(sum))) << m << "," << n;
          continue;
        }
        const double got = value_of(p.shape.result, code, true);
        double bound = (2 * k + 2) * 0x1p-24 * magnitude;
        if (p.shape.result == Type::kF16) bound += std::abs(sum) * 0x1p-11 + 0x1p-25;
        if (p.shape.result == Type::kBf16) bound += std::abs(sum) * 0x1p-8;
        if (p.shape.result == Type::kF16 && std::abs(sum) > 65000) continue;  // may overflow
        EXPECT_LE(std::abs(got - sum), bound) << m << "," << n << " trial " << trial;
      }
    }
    if (HasFailure()) return;
  }
}

// Small integers: every order of summation gives the same value, so equality is due.
TEST_P(EveryMatrixInstruction, IsExactWhereNoRoundingIsDue) {
  std::mt19937 rng(7u + GetParam());
  for (int trial = 0; trial < 50; ++trial) {
    Problem p(instruction(), rng, 0, [](Type t, std::mt19937& r) -> u32 {
      const float v = static_cast<float>(static_cast<int>(r() % 7) - 3);
      switch (t) {
        case Type::kFp8:
          return f32_to_e4m3(v);
        case Type::kBf8:
          return f32_to_e5m2(v);
        case Type::kF16:
          return f32_to_f16(v);
        case Type::kBf16:
          return f32_to_bf16(v / 2);
        case Type::kF32:
          return float_bits(v);
        default:
          return static_cast<u32>(static_cast<i32>(v)) &
                 (bits_of(t) == 32 ? ~0u : (1u << bits_of(t)) - 1);
      }
    });
    MatrixModifiers modifiers;
    modifiers.neg_lo = p.shape.result == Type::kI32 ? 3 : 0;
    p.run(instruction(), modifiers);
    const int k = p.shape.k;
    for (int m = 0; m < 16; ++m) {
      for (int n = 0; n < 16; ++n) {
        double sum = value_of(p.shape.result, p.c[m * 16 + n], true);
        for (int i = 0; i < k; ++i) {
          if (!p.a_kept[m * k + i]) continue;
          sum +=
              value_of(p.shape.a, p.a[m * k + i], true) * value_of(p.shape.b, p.b[n * k + i], true);
        }
        // Up to 32 products of at most 9/4 and a term: 8 bits hold the sum in bf16 too.
        EXPECT_EQ(value_of(p.shape.result, get_result(p.registers.d, m, n, bits_of(p.shape.result)),
                           true),
                  sum);
      }
    }
    if (HasFailure()) return;
  }
}

// The accumulator may be the result's own registers.
TEST_P(EveryMatrixInstruction, AccumulatesInPlace) {
  std::mt19937 rng(99u + GetParam());
  Problem p(instruction(), rng, 0, any_finite);
  p.run(instruction(), {});
  Registers in_place = p.registers;
  instruction().run({in_place.c, in_place.a, in_place.b, in_place.c, &in_place.index}, {});
  for (int r = 0; r < instruction().c_registers; ++r) {
    EXPECT_EQ(std::memcmp(in_place.c[r], p.registers.d[r], sizeof in_place.c[r]), 0) << r;
  }
}

INSTANTIATE_TEST_SUITE_P(All, EveryMatrixInstruction,
                         ::testing::Range(0, static_cast<int>(matrix_instructions().size())),
                         [](const auto& instance) {
                           return std::string(matrix_instructions()[instance.param].name);
                         });

// Every byte against every byte, one product at a time.
TEST(MatrixMath, EveryFp8AndBf8ProductIsExact) {
  for (const char* name : {"v_wmma_f32_16x16x16_fp8_fp8", "v_wmma_f32_16x16x16_fp8_bf8",
                           "v_wmma_f32_16x16x16_bf8_fp8", "v_wmma_f32_16x16x16_bf8_bf8"}) {
    const MatrixInstruction& instruction = *find_matrix_instruction(name);
    const Shape shape = shape_of(name);
    for (u32 a = 0; a < 256; a += 16) {
      for (u32 b = 0; b < 256; b += 16) {
        Registers r;
        const int k = static_cast<int>((a + b) / 16) % 16;
        for (u32 i = 0; i < 16; ++i) {
          put(r.a, operand_lane(i, k, 8), operand_element(k, 8), 8, a + i);
          put(r.b, operand_lane(i, k, 8), operand_element(k, 8), 8, b + i);
        }
        instruction.run({r.d, r.a, r.b, r.c}, {});
        for (u32 m = 0; m < 16; ++m) {
          for (u32 n = 0; n < 16; ++n) {
            const double due = value_of(shape.a, a + m, false) * value_of(shape.b, b + n, false);
            const float got = float_from_bits(get_result(r.d, m, n, 32));
            if (std::isnan(due)) {
              ASSERT_TRUE(std::isnan(got)) << a + m << "*" << b + n;
            } else {
              ASSERT_EQ(got, due) << a + m << "*" << b + n;
            }
          }
        }
      }
    }
  }
}

// All fp16 values pass through a product with one.
TEST(MatrixMath, EveryFp16IsDecoded) {
  const MatrixInstruction& instruction = *find_matrix_instruction("v_wmma_f32_16x16x16_f16");
  for (u32 base = 0; base < 65536; base += 16) {
    Registers r;
    const int k = static_cast<int>(base / 16) % 16;
    for (u32 i = 0; i < 16; ++i) {
      put(r.a, operand_lane(i, k, 8), operand_element(k, 8), 16, base + i);
      put(r.b, operand_lane(i, k, 8), operand_element(k, 8), 16, 0x3c00);
    }
    instruction.run({r.d, r.a, r.b, r.c}, {});
    for (u32 m = 0; m < 16; ++m) {
      const float due = f16_to_f32(static_cast<u16>(base + m));
      const float got = float_from_bits(get_result(r.d, m, 3, 32));
      if (std::isnan(due)) {
        ASSERT_TRUE(std::isnan(got)) << base + m;
      } else {
        ASSERT_EQ(got, due) << base + m;
      }
    }
  }
}

TEST(MatrixMath, UnknownNamesAreNotFound) {
  EXPECT_EQ(find_matrix_instruction("v_wmma_f32_16x16x128_f8f6f4"), nullptr);
  EXPECT_EQ(matrix_instructions().size(), kMatrixInstructions);
}

// sixteen ones times ones give 16, whatever the type: the case that a decoder of the wrong width
// fails.
TEST(MatrixMath, OnesGiveSixteen) {
  const MatrixInstruction& instruction = *find_matrix_instruction("v_wmma_f32_16x16x16_fp8_fp8");
  Registers r;
  for (int i = 0; i < 2; ++i) {
    for (int lane = 0; lane < 32; ++lane) r.a[i][lane] = r.b[i][lane] = 0x38383838u;
  }
  instruction.run({r.d, r.a, r.b, r.c}, {});
  for (int i = 0; i < 8; ++i) {
    for (int lane = 0; lane < 32; ++lane) EXPECT_EQ(float_from_bits(r.d[i][lane]), 16.0f);
  }
}

}  // namespace
}  // namespace radiance::emulator
