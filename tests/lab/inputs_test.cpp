#include "lab/inputs.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <set>

#include "lab/elements.hpp"
#include "lab/reference.hpp"
#include "numerics/e4m3.hpp"
#include "numerics/int4.hpp"

namespace radiance::lab {
namespace {

TEST(Random, RepeatsFromItsSeedAndDiffersByPurpose) {
  Random a(7), b(7), c(8);
  for (int i = 0; i < 100; ++i) {
    const uint64_t value = a.next();
    EXPECT_EQ(value, b.next());
    EXPECT_NE(value, c.next());
  }
  EXPECT_NE(derived_seed(7, "decode"), derived_seed(7, "prefill"));
  EXPECT_NE(derived_seed(7, "decode", 0), derived_seed(7, "decode", 1));
  EXPECT_NE(derived_seed(7, "decode"), derived_seed(8, "decode"));
}

TEST(Random, NormalHasVarianceOne) {
  Random random(1);
  double sum = 0, squares = 0;
  constexpr int kCount = 100000;
  for (int i = 0; i < kCount; ++i) {
    const double value = random.normal();
    sum += value;
    squares += value * value;
  }
  EXPECT_NEAR(sum / kCount, 0, 0.02);
  EXPECT_NEAR(squares / kCount, 1, 0.02);
}

TEST(Weight, Int4CodesLieAsTheInterfaceSays) {
  HostWeight weight = empty_weight(RADIANCE_AUTOROUND_INT4, 3, 16, 8);
  weight.set_code(2, 13, 11);
  // Word [13 / 8][2], nibble 13 % 8.
  uint32_t word;
  std::memcpy(&word, weight.codes.data() + (1 * 3 + 2) * 4, 4);
  EXPECT_EQ(int4_code(word, 5), 11u);
  EXPECT_EQ(weight.code(2, 13), 11u);
  EXPECT_EQ(weight.code(2, 12), 0u);
}

TEST(Weight, Mxfp4CodesLieAsTheInterfaceSays) {
  HostWeight weight = empty_weight(RADIANCE_MXFP4, 3, 64, 32);
  weight.set_code(2, 13, 11);
  EXPECT_EQ(weight.codes[2 * 32 + 6], 0xb0);
  weight.set_code(2, 12, 4);
  EXPECT_EQ(weight.codes[2 * 32 + 6], 0xb4);
  weight.set_scale(1, 2, 127);
  EXPECT_EQ(weight.scales[2 * 2 + 1], 127);
  EXPECT_EQ(weight.value(2, 13), -1.5 * 0x1p-127);  // group 0 keeps the scale byte 0
}

TEST(Weight, RandomInt4HasWhatTheGateAsksFor) {
  Random random(2);
  const HostWeight weight = random_int4_weight(random, 200, 640, 128);
  std::set<uint32_t> codes;
  for (int64_t k = 0; k < 640; ++k) codes.insert(weight.code(5, k));
  EXPECT_EQ(codes.size(), 16u);
  EXPECT_NEAR(weight.negative_scale_share(), 0.5, 0.1);
  int subnormal = 0, features_of_subnormals = 0;
  for (int64_t n = 0; n < 200; ++n) {
    bool all = true;
    for (int64_t g = 0; g < 5; ++g) {
      const bool is = std::fabs(weight.scale(g, n)) < 0x1p-14;
      EXPECT_NE(weight.scale(g, n), 0);
      subnormal += is;
      all = all && is;
    }
    features_of_subnormals += all;
  }
  EXPECT_GT(subnormal, 20);
  EXPECT_LT(subnormal, 300);
  EXPECT_GT(features_of_subnormals, 2);
}

TEST(Weight, CodeZeroIsAlwaysThere) {
  for (uint64_t seed = 0; seed < 50; ++seed) {
    Random random(seed);
    const HostWeight weight = random_int4_weight(random, 1, 8, -1);
    bool found = false;
    for (int64_t k = 0; k < 8; ++k) found = found || weight.code(0, k) == 0;
    EXPECT_TRUE(found);
  }
}

TEST(Weight, GroupsResolve) {
  EXPECT_EQ(empty_weight(RADIANCE_AUTOROUND_INT4, 4, 72, -1).shape.group, 72);
  EXPECT_EQ(empty_weight(RADIANCE_AUTOROUND_INT4, 4, 72, 128).shape.group, 72);
  EXPECT_EQ(empty_weight(RADIANCE_AUTOROUND_INT4, 4, 72, -1).desc().group, -1);
  EXPECT_EQ(empty_weight(RADIANCE_AUTOROUND_INT4, 4, 72, 32).shape.groups(), 3);
}

TEST(Rows, RandomRowsReachEveryCornerOfTheQuantizer) {
  Random random(3);
  const HostRows rows = random_rows(random, RADIANCE_BF16, 16, 512, 530);
  const QuantizedRows quantized = quantize_rows(rows, 128);
  int subnormals = 0, zeros = 0, negative_zeros = 0, largest = 0, smallest_scale = 0;
  for (const uint8_t byte : quantized.xq) {
    subnormals += (byte & 0x7f) > 0 && (byte & 0x7f) < 8;
    zeros += byte == 0;
    negative_zeros += byte == 0x80;
    largest += (byte & 0x7f) == 0x7e;
  }
  for (const float scale : quantized.scales) smallest_scale += scale == 1.0f / (448.0f * 512.0f);
  EXPECT_GT(subnormals, 100);
  EXPECT_GT(zeros, 0);
  EXPECT_GT(negative_zeros, 0);
  EXPECT_GE(largest, 12);  // a row's maximum is 448
  EXPECT_GT(smallest_scale, 0);
  EXPECT_TRUE(std::isnan(rows.at(3, 512))) << "the padding is NaN";
}

TEST(Rows, PlainRowsHaveTheirLargeFeaturesInEveryRow) {
  Random random(3);
  const HostRows rows = plain_rows(random, RADIANCE_F32, 64, 1024);
  int large = 0;
  for (int64_t column = 0; column < rows.k; ++column) {
    double squares = 0;
    for (int64_t row = 0; row < rows.m; ++row) {
      squares += std::pow(rows.at(row, column), 2.0);
    }
    const double deviation = std::sqrt(squares / static_cast<double>(rows.m));
    large += deviation > 5;
    EXPECT_TRUE((deviation > 0.5 && deviation < 2) || (deviation > 5 && deviation < 20));
  }
  EXPECT_GE(large, 1);
  EXPECT_LE(large, 32);
}

TEST(Rows, OneHotRowsHaveScaleOne) {
  const QuantizedRows quantized = quantize_rows(one_hot_rows(RADIANCE_F16, 8, 32, 4), 32);
  for (int64_t row = 0; row < 8; ++row) {
    EXPECT_EQ(quantized.scales[static_cast<size_t>(row)], 1.0f);
    for (int64_t k = 0; k < 32; ++k) {
      EXPECT_EQ(e4m3_to_f32(quantized.xq[static_cast<size_t>(row * 32 + k)]),
                k == row + 4 ? 448.0f : 0.0f);
    }
  }
}

TEST(Rows, CancelRowsMixLargeAndTinyOfOneSign) {
  Random random(4);
  const QuantizedRows quantized = quantize_rows(cancel_rows(random, RADIANCE_BF16, 2, 256), 256);
  int large = 0, tiny = 0;
  for (size_t i = 0; i < quantized.xq.size(); ++i) {
    const float value = e4m3_to_f32(quantized.xq[i]);
    if (value != 0) {
      EXPECT_EQ(std::signbit(value), i >= 256);
    }
    large += std::fabs(value) >= 320;
    tiny += std::fabs(value) <= 0x1p-5f;
  }
  EXPECT_GT(large, 150);
  EXPECT_GT(tiny, 150);
}

}  // namespace
}  // namespace radiance::lab
