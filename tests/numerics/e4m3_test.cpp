#include "numerics/e4m3.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>

#include "tests/numerics/nearest.hpp"

namespace radiance {
namespace {

// The definition, computed from the fields.
double value_of(int byte) {
  const int e = (byte >> 3) & 15, m = byte & 7;
  const double v = e == 0 ? std::ldexp(m, -9) : std::ldexp(8 + m, e - 10);
  return byte & 0x80 ? -v : v;
}

std::vector<double> magnitudes() {
  std::vector<double> v;
  for (int b = 0; b <= 0x7e; ++b) v.push_back(value_of(b));
  return v;
}

TEST(E4m3, DecodesAll256Bytes) {
  for (int b = 0; b < 256; ++b) {
    const float f = e4m3_to_f32(static_cast<u8>(b));
    if ((b & 0x7f) == 0x7f) {
      EXPECT_TRUE(std::isnan(f)) << b;
    } else {
      EXPECT_EQ(f, value_of(b)) << b;
      EXPECT_EQ(std::signbit(f), b >= 128) << b;
    }
  }
}

TEST(E4m3, EncodesItsOwnValues) {
  for (int b = 0; b < 256; ++b) {
    EXPECT_EQ(f32_to_e4m3(e4m3_to_f32(static_cast<u8>(b))), b) << b;
  }
}

TEST(E4m3, TiesGoToEvenFromBothSides) {
  for (int b = 0; b < 0x7e; ++b) {
    const float low = static_cast<float>(value_of(b)), high = static_cast<float>(value_of(b + 1));
    const float tie = (low + high) / 2;  // exact: one more bit than e4m3 has
    const int even = b & 1 ? b + 1 : b;
    EXPECT_EQ(f32_to_e4m3(tie), even) << b;
    EXPECT_EQ(f32_to_e4m3(-tie), even | 0x80) << b;
    EXPECT_EQ(f32_to_e4m3(std::nextafter(tie, 0.0f)), b) << b;
    EXPECT_EQ(f32_to_e4m3(std::nextafter(tie, 1e9f)), b + 1) << b;
  }
}

TEST(E4m3, SaturatesAndKeepsNan) {
  const float inf = std::numeric_limits<float>::infinity();
  for (float x : {448.0f, 463.9f, 464.0f, 465.0f, 480.0f, 1e30f, inf}) {
    EXPECT_EQ(f32_to_e4m3(x), 0x7e) << x;
    EXPECT_EQ(f32_to_e4m3(-x), 0xfe) << x;
  }
  EXPECT_EQ(f32_to_e4m3(std::numeric_limits<float>::quiet_NaN()) & 0x7f, 0x7f);
  EXPECT_EQ(f32_to_e4m3(std::numeric_limits<float>::denorm_min()), 0);
  EXPECT_EQ(f32_to_e4m3(-0.0f), 0x80);
}

TEST(E4m3, AgreesWithNearestOnRandomBits) {
  const auto values = magnitudes();
  std::mt19937 rng(20261129);
  std::uniform_real_distribution<float> exponent(-12.0f, 10.0f);
  for (int i = 0; i < 200000; ++i) {
    const float x = std::exp2(exponent(rng));
    EXPECT_EQ(f32_to_e4m3(x), testing::nearest_code(values, x)) << x;
  }
}

TEST(E4m3, ActivationScaleHasAFloor) {
  EXPECT_EQ(activation_scale(0.0f), 1.0f / (448.0f * 512.0f));
  EXPECT_EQ(activation_scale(1e-38f), 1.0f / (448.0f * 512.0f));
  EXPECT_EQ(activation_scale(448.0f), 1.0f);
  EXPECT_EQ(activation_scale(3.0f), 3.0f / 448.0f);
}

}  // namespace
}  // namespace radiance
