#include "emulator/fp8_conversion.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>
#include <vector>

#include "tests/numerics/nearest.hpp"

namespace radiance::emulator {
namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

// Finite magnitudes of a format, ascending, and the value its next code would have.
std::vector<double> magnitudes(float (*decode)(u8), int last) {
  std::vector<double> v;
  for (int b = 0; b <= last; ++b) v.push_back(decode(static_cast<u8>(b)));
  return v;
}

float decode_fp8(u8 b) { return e4m3_to_f32(b); }
float decode_bf8(u8 b) { return e5m2_to_f32(b); }

TEST(Fp8Conversion, RoundsToNearestEvenInRange) {
  const auto fp8 = magnitudes(decode_fp8, 0x7e), bf8 = magnitudes(decode_bf8, 0x7b);
  std::mt19937 rng(1);
  for (int i = 0; i < 300000; ++i) {
    const float x = float_from_bits(static_cast<u32>(rng()));
    const double magnitude = std::abs(static_cast<double>(x));
    const u32 sign = std::signbit(x) ? 0x80 : 0;
    for (bool clamp : {false, true}) {
      if (magnitude <= 464) {
        ASSERT_EQ(f32_to_fp8(x, clamp), sign | testing::nearest_code(fp8, magnitude)) << x;
      }
      if (magnitude < 61440) {
        ASSERT_EQ(f32_to_bf8(x, clamp), sign | testing::nearest_code(bf8, magnitude)) << x;
      }
    }
  }
}

TEST(Fp8Conversion, OverflowFollowsTheMode) {
  for (float x : {std::nextafter(464.0f, 1e9f), 465.0f, 480.0f, 1e5f, 1e38f}) {
    EXPECT_EQ(f32_to_fp8(x, false), 0x7f) << x;
    EXPECT_EQ(f32_to_fp8(-x, false), 0xff) << x;
    EXPECT_EQ(f32_to_fp8(x, true), 0x7e) << x;
    EXPECT_EQ(f32_to_fp8(-x, true), 0xfe) << x;
  }
  EXPECT_EQ(f32_to_fp8(464.0f, false), 0x7e);
  for (float x : {61440.0f, 1e6f, 1e38f}) {
    EXPECT_EQ(f32_to_bf8(x, false), 0x7c) << x;
    EXPECT_EQ(f32_to_bf8(-x, false), 0xfc) << x;
    EXPECT_EQ(f32_to_bf8(x, true), 0x7b) << x;
    EXPECT_EQ(f32_to_bf8(-x, true), 0xfb) << x;
  }
  EXPECT_EQ(f32_to_bf8(std::nextafter(61440.0f, 0.0f), false), 0x7b);
}

// The table of the ISA's 7.6.2.
TEST(Fp8Conversion, InfinityOverflowsAndNanStays) {
  for (bool clamp : {false, true}) {
    EXPECT_EQ(f32_to_fp8(kNan, clamp) & 0x7f, 0x7f);
    EXPECT_EQ(f32_to_bf8(kNan, clamp) & 0x7f, 0x7f);
    EXPECT_EQ(f32_to_fp8(kInfinity, clamp), clamp ? 0x7e : 0x7f);
    EXPECT_EQ(f32_to_fp8(-kInfinity, clamp), clamp ? 0xfe : 0xff);
    EXPECT_EQ(f32_to_bf8(kInfinity, clamp), clamp ? 0x7b : 0x7c);
    EXPECT_EQ(f32_to_bf8(-kInfinity, clamp), clamp ? 0xfb : 0xfc);
    EXPECT_EQ(f32_to_fp8_stochastic(kNan, 5, clamp) & 0x7f, 0x7f);
    EXPECT_EQ(f32_to_fp8_stochastic(kInfinity, 5, clamp), clamp ? 0x7e : 0x7f);
    EXPECT_EQ(f32_to_bf8_stochastic(kNan, 5, clamp) & 0x7f, 0x7f);
    EXPECT_EQ(f32_to_bf8_stochastic(kInfinity, 5, clamp), clamp ? 0x7b : 0x7c);
  }
}

TEST(Fp8Conversion, KeepsEveryCode) {
  for (int b = 0; b < 256; ++b) {
    const u8 code = static_cast<u8>(b);
    if ((b & 0x7f) != 0x7f) {
      EXPECT_EQ(f32_to_fp8(e4m3_to_f32(code), false), b);
      for (u32 random : {0u, 0xffffffffu, 0x12345678u}) {
        EXPECT_EQ(f32_to_fp8_stochastic(e4m3_to_f32(code), random, false), b);
      }
    }
    if ((b & 0x7f) <= 0x7c) {
      EXPECT_EQ(f32_to_bf8(e5m2_to_f32(code), false), b);
      for (u32 random : {0u, 0xffffffffu, 0x12345678u}) {
        EXPECT_EQ(f32_to_bf8_stochastic(e5m2_to_f32(code), random, false), b);
      }
    }
  }
}

// Between two neighbours the upper one is taken as often as x is near it.
template <class Convert>
void expect_unbiased(const std::vector<double>& values, Convert convert) {
  std::mt19937 rng(3);
  for (u32 code : {0u, 1u, 3u, 5u, 8u, 0x37u, 0x50u}) {
    for (double fraction : {0.0625, 0.25, 0.5, 0.9}) {
      const double x = values[code] + fraction * (values[code + 1] - values[code]);
      int upper = 0;
      constexpr int kTrials = 20000;
      for (int i = 0; i < kTrials; ++i) {
        const u32 got = convert(static_cast<float>(x), static_cast<u32>(rng()), false);
        ASSERT_TRUE(got == code || got == code + 1) << x << " gave " << got;
        upper += got == code + 1;
      }
      EXPECT_NEAR(upper / double{kTrials}, fraction, 0.02) << x;
    }
  }
}

TEST(Fp8Conversion, StochasticRoundingIsUnbiased) {
  expect_unbiased(magnitudes(decode_fp8, 0x7e), f32_to_fp8_stochastic);
  expect_unbiased(magnitudes(decode_bf8, 0x7b), f32_to_bf8_stochastic);
}

TEST(Fp8Conversion, StochasticRoundingTruncatesWithoutRandomBits) {
  EXPECT_EQ(f32_to_fp8_stochastic(447.9f, 0, false), 0x7d);
  EXPECT_EQ(f32_to_fp8_stochastic(479.0f, 0, false), 0x7e);
  EXPECT_EQ(f32_to_fp8_stochastic(449.0f, 0xffffffffu, false), 0x7f);
  EXPECT_EQ(f32_to_fp8_stochastic(449.0f, 0xffffffffu, true), 0x7e);
  EXPECT_EQ(f32_to_bf8_stochastic(-57345.0f, 0xffffffffu, false), 0xfc);
  EXPECT_EQ(f32_to_bf8_stochastic(-57345.0f, 0, false), 0xfb);
}

}  // namespace
}  // namespace radiance::emulator
