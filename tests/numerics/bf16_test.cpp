#include "numerics/bf16.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace radiance {
namespace {

TEST(Bf16, RoundTripsAll65536Patterns) {
  for (int b = 0; b < 65536; ++b) {
    const float f = bf16_to_f32(static_cast<u16>(b));
    const bool nan = (b & 0x7f80) == 0x7f80 && (b & 0x7f);
    ASSERT_EQ(float_bits(f), static_cast<u32>(b) << 16);
    ASSERT_EQ(f32_to_bf16(f), nan ? b | 0x40 : b) << b;
  }
}

TEST(Bf16, TiesGoToEvenFromBothSides) {
  for (u32 b = 0; b < 0x7f7f; ++b) {
    const u32 tie = b << 16 | 0x8000;  // midway between b and b + 1
    const u32 even = b & 1 ? b + 1 : b;
    ASSERT_EQ(f32_to_bf16(float_from_bits(tie)), even) << b;
    ASSERT_EQ(f32_to_bf16(float_from_bits(tie | 0x80000000u)), even | 0x8000) << b;
    ASSERT_EQ(f32_to_bf16(float_from_bits(tie - 1)), b) << b;
    ASSERT_EQ(f32_to_bf16(float_from_bits(tie + 1)), b + 1) << b;
  }
}

TEST(Bf16, OverflowsAndKeepsNan) {
  EXPECT_EQ(f32_to_bf16(3.4028235e38f), 0x7f80);
  EXPECT_EQ(f32_to_bf16(INFINITY), 0x7f80);
  // A NaN whose payload lies only in the bits that are dropped must not become infinity.
  EXPECT_TRUE(std::isnan(bf16_to_f32(f32_to_bf16(float_from_bits(0x7f800001u)))));
}

}  // namespace
}  // namespace radiance
