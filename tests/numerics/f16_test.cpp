#include "numerics/f16.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <random>

namespace radiance {
namespace {

double value_of(int h) {
  const int e = (h >> 10) & 31, m = h & 1023;
  const double v = e == 0 ? std::ldexp(m, -24) : std::ldexp(1024 + m, e - 25);
  return h & 0x8000 ? -v : v;
}

TEST(F16, DecodesAll65536Patterns) {
  for (int h = 0; h < 65536; ++h) {
    const float f = f16_to_f32(static_cast<u16>(h));
    if ((h & 0x7c00) == 0x7c00) {
      EXPECT_EQ(std::isnan(f), (h & 0x3ff) != 0) << h;
      EXPECT_EQ(std::isinf(f), (h & 0x3ff) == 0) << h;
    } else {
      ASSERT_EQ(f, value_of(h)) << h;
    }
    ASSERT_EQ(std::signbit(f), h >= 0x8000) << h;
  }
}

TEST(F16, EncodesItsOwnValues) {
  for (int h = 0; h < 65536; ++h) {
    const bool nan = (h & 0x7c00) == 0x7c00 && (h & 0x3ff);
    ASSERT_EQ(f32_to_f16(f16_to_f32(static_cast<u16>(h))), nan ? h | 0x200 : h) << h;
  }
}

TEST(F16, TiesGoToEvenFromBothSides) {
  for (int h = 0; h < 0x7bff; ++h) {
    const float tie = static_cast<float>((value_of(h) + value_of(h + 1)) / 2);
    const int even = h & 1 ? h + 1 : h;
    ASSERT_EQ(f32_to_f16(tie), even) << h;
    ASSERT_EQ(f32_to_f16(-tie), even | 0x8000) << h;
    ASSERT_EQ(f32_to_f16(std::nextafter(tie, 0.0f)), h) << h;
    ASSERT_EQ(f32_to_f16(std::nextafter(tie, 1e9f)), h + 1) << h;
  }
}

TEST(F16, OverflowsToInfinityAtTheTie) {
  EXPECT_EQ(f32_to_f16(65519.996f), 0x7bff);
  EXPECT_EQ(f32_to_f16(65520.0f), 0x7c00);
  EXPECT_EQ(f32_to_f16(-1e30f), 0xfc00);
  EXPECT_EQ(f32_to_f16(INFINITY), 0x7c00);
}

#if defined(__FLT16_MANT_DIG__) && !defined(__clang__)
// The compiler's own conversion (hardware or runtime library) as a second opinion.
TEST(F16, AgreesWithTheCompiler) {
  std::mt19937 rng(1);
  for (int i = 0; i < 1000000; ++i) {
    const float x = float_from_bits(static_cast<u32>(rng()));
    if (std::isnan(x)) continue;
    const _Float16 y = static_cast<_Float16>(x);
    u16 bits;
    std::memcpy(&bits, &y, 2);
    ASSERT_EQ(f32_to_f16(x), bits) << x;
  }
}
#endif

}  // namespace
}  // namespace radiance
