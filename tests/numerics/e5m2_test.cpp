#include "numerics/e5m2.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>

#include "numerics/f16.hpp"
#include "tests/numerics/nearest.hpp"

namespace radiance {
namespace {

// The definition, computed from the fields.
double value_of(int byte) {
  const int e = (byte >> 2) & 31, m = byte & 3;
  const double v = e == 0 ? std::ldexp(m, -16) : std::ldexp(4 + m, e - 17);
  return byte & 0x80 ? -v : v;
}

std::vector<double> magnitudes() {
  std::vector<double> v;
  for (int b = 0; b < kE5m2Infinity; ++b) v.push_back(value_of(b));
  return v;
}

TEST(E5m2, DecodesAll256Bytes) {
  for (int b = 0; b < 256; ++b) {
    const float f = e5m2_to_f32(static_cast<u8>(b));
    EXPECT_EQ(std::signbit(f), b >= 128) << b;
    if ((b & 0x7f) > kE5m2Infinity) {
      EXPECT_TRUE(std::isnan(f)) << b;
    } else if ((b & 0x7f) == kE5m2Infinity) {
      EXPECT_TRUE(std::isinf(f)) << b;
    } else {
      EXPECT_EQ(f, value_of(b)) << b;
    }
  }
}

TEST(E5m2, IsTheUpperByteOfAnFp16) {
  for (int b = 0; b < 256; ++b) {
    const float f = e5m2_to_f32(static_cast<u8>(b)), h = f16_to_f32(static_cast<u16>(b << 8));
    EXPECT_EQ(float_bits(f), float_bits(h)) << b;
  }
}

TEST(E5m2, EncodesItsOwnValues) {
  for (int b = 0; b < 256; ++b) {
    const int expected = (b & 0x7f) > kE5m2Infinity ? (b & 0x80) | kE5m2Nan : b;
    EXPECT_EQ(f32_to_e5m2(e5m2_to_f32(static_cast<u8>(b))), expected) << b;
  }
}

TEST(E5m2, TiesGoToEvenFromBothSides) {
  for (int b = 0; b < 0x7b; ++b) {
    const float low = static_cast<float>(value_of(b)), high = static_cast<float>(value_of(b + 1));
    const float tie = (low + high) / 2;  // exact: one more bit than e5m2 has
    const int even = b & 1 ? b + 1 : b;
    EXPECT_EQ(f32_to_e5m2(tie), even) << b;
    EXPECT_EQ(f32_to_e5m2(-tie), even | 0x80) << b;
    EXPECT_EQ(f32_to_e5m2(std::nextafter(tie, 0.0f)), b) << b;
    EXPECT_EQ(f32_to_e5m2(std::nextafter(tie, 1e9f)), b + 1) << b;
  }
}

TEST(E5m2, OverflowsToInfinity) {
  EXPECT_EQ(f32_to_e5m2(kE5m2Max), 0x7b);
  EXPECT_EQ(f32_to_e5m2(std::nextafter(61440.0f, 0.0f)), 0x7b);
  EXPECT_EQ(f32_to_e5m2(61440.0f), kE5m2Infinity);
  EXPECT_EQ(f32_to_e5m2(-std::numeric_limits<float>::infinity()), kE5m2Infinity | 0x80);
  EXPECT_EQ(f32_to_e5m2(std::numeric_limits<float>::denorm_min()), 0);
  EXPECT_EQ(f32_to_e5m2(-0.0f), 0x80);
}

TEST(E5m2, AgreesWithNearestOnRandomBits) {
  const auto values = magnitudes();
  std::mt19937 rng(20261130);
  std::uniform_real_distribution<float> exponent(-20.0f, 15.8f);
  for (int i = 0; i < 100000; ++i) {
    const float x = std::exp2(exponent(rng));
    EXPECT_EQ(f32_to_e5m2(x), testing::nearest_code(values, x)) << x;
  }
}

}  // namespace
}  // namespace radiance
