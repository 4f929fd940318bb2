// The quantizer of every instruction set against numerics/, bit for bit.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <random>
#include <vector>

#include "kernels/cpu/policy.hpp"
#include "kernels/cpu/row_digits.hpp"
#include "numerics/bf16.hpp"
#include "numerics/e4m3.hpp"
#include "numerics/f16.hpp"

namespace radiance::cpu {
namespace {

class Rows : public ::testing::TestWithParam<CpuArch> {
 protected:
  const RowKernels& rows() const { return *arch_kernels(GetParam()).rows; }

  // Quantizes and compares with the contract written out.
  void expect_contract(const std::vector<float>& values, const void* x, DType type) {
    const auto k = static_cast<int64_t>(values.size());
    std::vector<uint8_t> xq(values.size(), 0xee);
    const float scale = rows().quantize(x, type, k, xq.data());
    float absmax = 0;
    for (const float v : values) absmax = std::max(absmax, std::abs(v));
    ASSERT_EQ(scale, activation_scale(absmax));
    for (size_t i = 0; i < values.size(); ++i) {
      ASSERT_EQ(xq[i], f32_to_e4m3(values[i] / scale)) << i << ": " << values[i];
    }
  }
};

TEST_P(Rows, QuantizesEveryFiniteBf16AndF16) {
  // In rows of every magnitude, so that each value meets many scales.
  std::mt19937 rng(5);
  for (const DType type : {DType::kBf16, DType::kF16}) {
    std::vector<uint16_t> patterns;
    for (int p = 0; p < 65536; ++p) {
      const auto bits = static_cast<uint16_t>(p);
      const float v = type == DType::kBf16 ? bf16_to_f32(bits) : f16_to_f32(bits);
      if (std::isfinite(v)) patterns.push_back(bits);
    }
    std::shuffle(patterns.begin(), patterns.end(), rng);
    for (size_t at = 0; at < patterns.size();) {
      const size_t k = std::min(patterns.size() - at, 1 + rng() % 100);
      std::vector<float> values;
      for (size_t i = 0; i < k; ++i) {
        values.push_back(type == DType::kBf16 ? bf16_to_f32(patterns[at + i])
                                              : f16_to_f32(patterns[at + i]));
      }
      expect_contract(values, patterns.data() + at, type);
      at += k;
    }
  }
}

TEST_P(Rows, QuantizesF32OfOneMagnitude) {
  std::mt19937 rng(6);
  std::uniform_real_distribution<float> uniform(-1.0f, 1.0f);
  for (int row = 0; row < 300; ++row) {
    const float size = std::ldexp(1.0f, static_cast<int>(rng() % 200) - 120);
    std::vector<float> values(1 + rng() % 300);
    for (float& v : values)
      v = size * uniform(rng) * std::ldexp(1.0f, -static_cast<int>(rng() % 20));
    expect_contract(values, values.data(), DType::kF32);
  }
}

TEST_P(Rows, TiesAndExtremes) {
  // The first element makes the scale 1: the others are quantized as they stand.
  std::vector<float> values = {448.0f};
  for (int b = 0; b < 0x7e; ++b) {
    const float tie = (e4m3_to_f32(static_cast<u8>(b)) + e4m3_to_f32(static_cast<u8>(b + 1))) / 2;
    for (const float v : {tie, std::nextafter(tie, 0.0f), std::nextafter(tie, 1e9f)}) {
      values.push_back(v);
      values.push_back(-v);
    }
  }
  values.insert(values.end(), {0.0f, -0.0f, 1e-45f, -1e-38f});
  expect_contract(values, values.data(), DType::kF32);
  expect_contract({0.0f, -0.0f, 0.0f}, std::vector<float>{0.0f, -0.0f, 0.0f}.data(), DType::kF32);
  const std::vector<float> huge = {3.4028235e38f, -1e38f, 1.0f};
  expect_contract(huge, huge.data(), DType::kF32);
}

TEST_P(Rows, NonFiniteRowsBecomeNan) {
  for (const uint16_t bad :
       {uint16_t{0x7c00}, uint16_t{0xfc00}, uint16_t{0x7e01}, uint16_t{0x7c01}}) {
    for (const size_t at : {size_t{0}, size_t{17}, size_t{39}}) {
      std::vector<uint16_t> x(40, 0x3c00);
      x[at] = bad;
      std::vector<uint8_t> xq(40);
      EXPECT_TRUE(std::isnan(rows().quantize(x.data(), DType::kF16, 40, xq.data())));
      for (const uint8_t b : xq) EXPECT_EQ(b, kE4m3Nan);
    }
  }
}

TEST_P(Rows, GroupSumsAreExact) {
  std::mt19937 rng(8);
  for (const int64_t group : {int64_t{8}, int64_t{32}, int64_t{128}, int64_t{1000}}) {
    std::vector<uint8_t> xq(300);
    for (auto& b : xq) {
      do b = static_cast<uint8_t>(rng());
      while ((b & 0x7f) == kE4m3Nan);
    }
    std::vector<float> sums(static_cast<size_t>((300 + group - 1) / group), -1.0f);
    rows().group_sums(xq.data(), 300, group, sums.data());
    for (size_t g = 0; g < sums.size(); ++g) {
      double sum = 0;
      for (int64_t i = static_cast<int64_t>(g) * group;
           i < std::min<int64_t>(300, static_cast<int64_t>(g + 1) * group); ++i) {
        sum += e4m3_to_f32(xq[static_cast<size_t>(i)]);
      }
      EXPECT_EQ(sums[g], static_cast<float>(sum));
    }
  }
}

TEST_P(Rows, ExpandsEveryByteInEveryForm) {
  std::vector<uint8_t> xq;
  for (int b = 0; b < 256; ++b) xq.push_back(static_cast<uint8_t>(b));
  const int64_t k = 256, group = 40;
  const auto padded = static_cast<size_t>(k + kRowPadding);
  std::vector<uint16_t> halves(padded, 0xffff);
  std::vector<float> floats(padded, -1.0f);
  std::vector<uint8_t> digits(static_cast<size_t>(digit_row_bytes(k, group)), 0xff);
  rows().expand(xq.data(), k, group, RowForm::kBf16, reinterpret_cast<uint8_t*>(halves.data()));
  rows().expand(xq.data(), k, group, RowForm::kF32, reinterpret_cast<uint8_t*>(floats.data()));
  rows().expand(xq.data(), k, group, RowForm::kDigits, digits.data());
  constexpr int order[8] = {0, 4, 1, 5, 2, 6, 3, 7};
  std::vector<RowPart> parts(7);
  std::memcpy(parts.data(), digits.data() + row_parts_offset(k), parts.size() * sizeof(RowPart));
  std::vector<double> sums(7);
  for (size_t i = 0; i < padded; ++i) {
    const float value = i < 256 ? e4m3_to_f32(xq[i]) : 0.0f;
    if (std::isnan(value)) {
      EXPECT_TRUE(std::isnan(bf16_to_f32(halves[i])));
      EXPECT_TRUE(std::isnan(floats[i]));
      continue;
    }
    EXPECT_EQ(bf16_to_f32(halves[i]), value);
    EXPECT_EQ(floats[i], value);
    if (i >= 256) continue;
    const RowPart& part = parts[i / 40];
    sums[i / 40] += value;
    const auto* block = reinterpret_cast<const int8_t*>(digits.data()) + i / 8 * kDigitBlockBytes;
    for (int p = 0; p < 8; ++p) {
      if (order[p] != static_cast<int>(i % 8)) continue;
      EXPECT_EQ(
          static_cast<float>(block[p] + 256 * block[8 + p] + 65536 * block[16 + p]) * part.unit,
          value);
      if (part.digits == kFewDigits) {
        EXPECT_EQ(block[16 + p], 0);
      }
    }
  }
  for (size_t g = 0; g < sums.size(); ++g) {
    EXPECT_EQ(parts[g].sum * static_cast<double>(parts[g].unit), sums[g]) << g;
  }
}

// 448 beside 2^-6, 0.25 beside 2^-9 (15 bits from the first to the last), and one bit more of each.
TEST_P(Rows, TakesTwoDigitsWhereTheyReach) {
  const int64_t k = 160, group = 32;
  std::vector<uint8_t> xq(static_cast<size_t>(k), 0);
  const float pairs[5][2] = {
      {448.0f, 0x1p-6f}, {-448.0f, 0x1p-7f}, {-52.0f, 0x1p-9f}, {64.0f, -0x1p-9f}, {0.0f, 0.0f}};
  const int expected[5] = {2, 3, 2, 3, 2};
  for (size_t g = 0; g < 5; ++g) {
    xq[g * 32 + 3] = f32_to_e4m3(pairs[g][0]);
    xq[g * 32 + 30] = f32_to_e4m3(pairs[g][1]);
  }
  std::vector<uint8_t> digits(static_cast<size_t>(digit_row_bytes(k, group)), 0xff);
  rows().expand(xq.data(), k, group, RowForm::kDigits, digits.data());
  std::vector<RowPart> parts(5);
  std::memcpy(parts.data(), digits.data() + row_parts_offset(k), parts.size() * sizeof(RowPart));
  for (size_t g = 0; g < 5; ++g) {
    EXPECT_EQ(parts[g].digits, expected[g]) << g;
    EXPECT_EQ(parts[g].sum * static_cast<double>(parts[g].unit),
              static_cast<double>(pairs[g][0]) + static_cast<double>(pairs[g][1]))
        << g;
  }
}

INSTANTIATE_TEST_SUITE_P(Archs, Rows, ::testing::ValuesIn(supported_cpu_archs()),
                         [](const auto& arch) { return cpu_arch_name(arch.param); });

}  // namespace
}  // namespace radiance::cpu
