#include "lab/statistics.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace radiance::lab {
namespace {

TEST(Statistics, MedianOfOddAndEvenCounts) {
  EXPECT_EQ(median({3, 1, 2}), 2);
  EXPECT_EQ(median({4, 1, 3, 2}), 2.5);
  EXPECT_EQ(median({7}), 7);
  EXPECT_TRUE(std::isnan(median({})));
}

TEST(Statistics, QuantilesInterpolate) {
  const std::vector<double> samples = {50, 10, 40, 20, 30};
  EXPECT_EQ(quantile(samples, 0), 10);
  EXPECT_EQ(quantile(samples, 1), 50);
  EXPECT_EQ(quantile(samples, 0.25), 20);
  EXPECT_EQ(quantile(samples, 0.75), 40);
  EXPECT_DOUBLE_EQ(quantile(samples, 0.6), 34);
}

TEST(Statistics, SpreadIsInterquartileRangeOverMedian) {
  EXPECT_DOUBLE_EQ(spread({10, 20, 30, 40, 50}), 20.0 / 30.0);
  EXPECT_EQ(spread({5, 5, 5}), 0);
  EXPECT_TRUE(std::isnan(spread({})));
}

// One stall among the samples moves neither.
TEST(Statistics, AreRobust) {
  EXPECT_EQ(median({1, 1, 1, 1, 1000}), 1);
  EXPECT_EQ(spread({1, 1, 1, 1, 1000}), 0);
}

}  // namespace
}  // namespace radiance::lab
