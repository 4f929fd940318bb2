// The quantizer of every instruction set against numerics/, bit for bit.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <random>
#include <vector>

#include "kernels/cpu/policy.hpp"
#include "kernels/cpu/row_integers.hpp"
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

TEST_P(Rows, ExpandsEveryByteToFloats) {
  std::vector<uint8_t> xq;
  for (int b = 0; b < 256; ++b) xq.push_back(static_cast<uint8_t>(b));
  const auto padded = static_cast<size_t>(256 + kRowPadding);
  std::vector<uint16_t> halves(padded, 0xffff);
  std::vector<float> floats(padded, -1.0f);
  rows().expand(xq.data(), 256, 40, RowForm::kBf16, reinterpret_cast<uint8_t*>(halves.data()));
  rows().expand(xq.data(), 256, 40, RowForm::kF32, reinterpret_cast<uint8_t*>(floats.data()));
  for (size_t i = 0; i < padded; ++i) {
    const float value = i < 256 ? e4m3_to_f32(xq[i]) : 0.0f;
    if (std::isnan(value)) {
      EXPECT_TRUE(std::isnan(bf16_to_f32(halves[i])));
      EXPECT_TRUE(std::isnan(floats[i]));
      continue;
    }
    EXPECT_EQ(bf16_to_f32(halves[i]), value);
    EXPECT_EQ(floats[i], value);
  }
}

// A row in an integer form, read back.
struct IntegerRow {
  IntegerRow(const RowKernels& kernels, const std::vector<uint8_t>& xq, int64_t row_group,
             RowForm row_form)
      : k(static_cast<int64_t>(xq.size())),
        group(row_group),
        form(row_form),
        bytes(static_cast<size_t>(integer_row_bytes(k, group)), 0xff) {
    kernels.expand(xq.data(), k, group, form, bytes.data());
    parts.resize(static_cast<size_t>(parts_of(k, group)));
    std::memcpy(parts.data(), bytes.data() + row_parts_offset(k), parts.size() * sizeof(RowPart));
  }
  RowRest rest(int64_t i) const {
    RowRest r;
    std::memcpy(&r, bytes.data() + row_rests_offset(k, group) + i * int64_t{sizeof(RowRest)},
                sizeof(r));
    return r;
  }
  // The element's dense integer, or the byte or word that a lane of rests has at its place.
  int64_t dense(int64_t at) const {
    const uint8_t* block = bytes.data() + at / 8 * kIntegerBlockBytes;
    if (form == RowForm::kWords) {
      int16_t word;
      std::memcpy(&word, block + 2 * (at % 8), 2);
      return word;
    }
    const auto p =
        static_cast<int64_t>(std::find(kDigitOrder, kDigitOrder + 8, at % 8) - kDigitOrder);
    return static_cast<int8_t>(block[p]) + 256 * static_cast<int8_t>(block[8 + p]);
  }
  // 512 times the value that every element of the row stands for.
  std::vector<int64_t> units() const {
    std::vector<int64_t> all;
    int64_t rest_count = 0;
    for (size_t p = 0; p < parts.size(); ++p) {
      const RowPart& part = parts[p];
      const int64_t in_group = static_cast<int64_t>(p) % parts_per_group(group);
      const int64_t group_begin = static_cast<int64_t>(p) / parts_per_group(group) * group;
      const int64_t group_end = std::min(group_begin + group, k);
      const int64_t begin = std::min(group_begin + in_group * kPartK, group_end);
      const int64_t end = std::min(begin + kPartK, group_end);
      int64_t sum = 0, rest_sum = 0;
      for (int64_t i = begin; i < end; ++i) {
        sum += dense(i);
        all.push_back(dense(i) * (1 << part.shift));
      }
      EXPECT_EQ(part.sum, sum);
      EXPECT_EQ(part.unit, std::ldexp(1.0f, part.shift - 9));
      EXPECT_EQ(part.rest_begin, rest_count);
      for (int64_t i = 0; i < part.rest_count; ++i) {
        const RowRest lane = rest(part.rest_begin + i);
        const int64_t per_lane = integers_per_lane(form);
        for (int64_t j = 0; j < per_lane; ++j) {
          const int64_t first = lane.at * per_lane + j;
          const int64_t element =
              form == RowForm::kWords ? first : first / 8 * 8 + kDigitOrder[first % 8];
          if (element < begin || element >= end) {
            ADD_FAILURE() << element;
            continue;
          }
          const uint32_t values = static_cast<uint32_t>(lane.values) >> (32 / per_lane * j);
          const int64_t value = per_lane == 2 ? int64_t{static_cast<int16_t>(values)}
                                              : int64_t{static_cast<int8_t>(values)};
          EXPECT_TRUE(value == 0 || dense(element) == 0);
          rest_sum += value;
          all[static_cast<size_t>(element)] += value * (1 << part.rest_shift);
        }
      }
      EXPECT_EQ(part.rest_sum, rest_sum);
      rest_count += part.rest_count;
    }
    return all;
  }

  int64_t k, group;
  RowForm form;
  std::vector<uint8_t> bytes;
  std::vector<RowPart> parts;
};

TEST_P(Rows, IntegersAreExact) {
  std::mt19937 rng(9);
  for (int round = 0; round < 200; ++round) {
    const auto k = static_cast<size_t>(8 * (1 + rng() % 200));
    constexpr int64_t groups[] = {8, 32, 40, 64, 128, 264, 1000, 1600};
    const int64_t group = std::min(groups[rng() % 8], static_cast<int64_t>(k));
    // All values, or few large ones among small, or few small ones among large.
    std::vector<uint8_t> xq;
    const int kind = round % 3;
    for (size_t i = 0; i < k; ++i) {
      const bool rare = rng() % 16 == 0;
      const uint32_t magnitude = kind == 0             ? rng() % 128
                                 : (kind == 1) == rare ? 0x60 + rng() % 31
                                                       : rng() % 0x40;
      xq.push_back(static_cast<uint8_t>(magnitude | (rng() & 0x80)));
    }
    for (const RowForm form : {RowForm::kDigits, RowForm::kWords}) {
      const IntegerRow row(rows(), xq, group, form);
      const std::vector<int64_t> units = row.units();
      ASSERT_EQ(units.size(), k);
      for (size_t i = 0; i < k; ++i) {
        const float value = e4m3_to_f32(xq[i]);
        ASSERT_EQ(static_cast<double>(units[i]) / 512,
                  std::isnan(value) ? 0.0 : static_cast<double>(value))
            << i;
      }
    }
  }
}

// 448 beside 2^-6, 0.25 beside 2^-9 (15 bits from the first to the last), and one bit more of each:
// one rest, the large one where there are two tiny.
TEST_P(Rows, ListsTheFewerRests) {
  const float values[7][3] = {{448.0f, 0x1p-6f, 0},
                              {-448.0f, 0x1p-7f, 0},
                              {-52.0f, 0x1p-9f, 0},
                              {64.0f, -0x1p-9f, 0},
                              {0, 0, 0},
                              {448.0f, 0x1p-7f, 0x1p-9f},
                              {448.0f, -256.0f, 0x1p-9f}};
  const int rests[7] = {0, 1, 0, 1, 0, 1, 1};
  const int rest_shifts[7] = {0, 0, 0, 0, 0, 12, 0};
  std::vector<uint8_t> xq(7 * 32, 0);
  for (size_t g = 0; g < 7; ++g) {
    xq[g * 32 + 3] = f32_to_e4m3(values[g][0]);
    xq[g * 32 + 17] = f32_to_e4m3(values[g][1]);
    xq[g * 32 + 30] = f32_to_e4m3(values[g][2]);
  }
  for (const RowForm form : {RowForm::kDigits, RowForm::kWords}) {
    const IntegerRow row(rows(), xq, 32, form);
    for (size_t g = 0; g < 7; ++g) {
      EXPECT_EQ(row.parts[g].rest_count, rests[g]) << g;
      EXPECT_EQ(row.parts[g].rest_shift, rest_shifts[g]) << g;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Archs, Rows, ::testing::ValuesIn(supported_cpu_archs()),
                         [](const auto& arch) { return cpu_arch_name(arch.param); });

}  // namespace
}  // namespace radiance::cpu
