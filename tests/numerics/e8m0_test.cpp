#include "numerics/e8m0.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace radiance {
namespace {

TEST(E8m0, DecodesAll256Bytes) {
  for (int s = 0; s < 255; ++s) {
    EXPECT_EQ(static_cast<double>(e8m0_to_f32(static_cast<u8>(s))), std::ldexp(1.0, s - 127)) << s;
  }
  EXPECT_TRUE(std::isnan(e8m0_to_f32(255)));
}

}  // namespace
}  // namespace radiance
