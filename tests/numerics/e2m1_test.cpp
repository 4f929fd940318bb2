#include "numerics/e2m1.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "tests/numerics/nearest.hpp"

namespace radiance {
namespace {

// The OCP table, as the specification prints it.
const std::vector<double> kValues = {0, 0.5, 1, 1.5, 2, 3, 4, 6};

TEST(E2m1, DecodesAll16Nibbles) {
  for (int c = 0; c < 16; ++c) {
    const float f = e2m1_to_f32(static_cast<u8>(c));
    EXPECT_EQ(std::abs(f), kValues[c & 7]);
    EXPECT_EQ(std::signbit(f), c >= 8);
    EXPECT_EQ(f32_to_e2m1(f), c);
  }
}

TEST(E2m1, TiesGoToEvenFromBothSides) {
  for (int c = 0; c < 7; ++c) {
    const float tie = static_cast<float>((kValues[c] + kValues[c + 1]) / 2);
    const int even = c & 1 ? c + 1 : c;
    EXPECT_EQ(f32_to_e2m1(tie), even);
    EXPECT_EQ(f32_to_e2m1(-tie), even | 8);
    EXPECT_EQ(f32_to_e2m1(std::nextafter(tie, 0.0f)), c);
    EXPECT_EQ(f32_to_e2m1(std::nextafter(tie, 9.0f)), c + 1);
  }
}

TEST(E2m1, AgreesWithNearestAndSaturates) {
  for (int i = 0; i <= 100000; ++i) {
    const float x = static_cast<float>(i) * 1e-4f;
    ASSERT_EQ(f32_to_e2m1(x), testing::nearest_code(kValues, x)) << x;
  }
  EXPECT_EQ(f32_to_e2m1(1e30f), 7);
  EXPECT_EQ(f32_to_e2m1(-INFINITY), 15);
}

}  // namespace
}  // namespace radiance
