#include "lab/roofline.hpp"

#include <gtest/gtest.h>

namespace radiance::lab {
namespace {

TEST(Roofline, MemoryBoundsFewRows) {
  // 50 MB at 25 GB/s; 17408 x 5120 products at 100 GMAC/s.
  const Roofline roof = roofline(1, 17408, 5120, 50e6, 25, 100);
  EXPECT_DOUBLE_EQ(roof.memory_us, 2000);
  EXPECT_DOUBLE_EQ(roof.compute_us, 891.2896);
  EXPECT_TRUE(roof.bound_by_memory());
  EXPECT_EQ(roof.us(), roof.memory_us);
}

TEST(Roofline, ComputeBoundsManyRows) {
  const Roofline roof = roofline(512, 17408, 5120, 50e6, 25, 100);
  EXPECT_DOUBLE_EQ(roof.compute_us, 512 * 891.2896);
  EXPECT_FALSE(roof.bound_by_memory());
  EXPECT_EQ(roof.us(), roof.compute_us);
}

}  // namespace
}  // namespace radiance::lab
