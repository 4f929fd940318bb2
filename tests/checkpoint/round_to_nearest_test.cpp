#include "checkpoint/round_to_nearest.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>
#include <vector>

#include "numerics/e2m1.hpp"
#include "numerics/e8m0.hpp"
#include "numerics/f16.hpp"
#include "support.hpp"

namespace radiance {
namespace {

struct Int4Row {
  std::vector<uint8_t> codes;
  std::vector<uint16_t> scales;
  WeightError error;
  RowFault fault;
};

Int4Row round_int4(const std::vector<float>& row, int64_t group) {
  Int4Row result{std::vector<uint8_t>(row.size(), 0xee),
                 std::vector<uint16_t>((row.size() + static_cast<size_t>(group) - 1) /
                                       static_cast<size_t>(group)),
                 {},
                 RowFault::kNone};
  result.fault =
      round_row_int4(row, group, result.codes.data(), result.scales.data(), result.error);
  return result;
}

std::vector<float> normal_row(size_t count, uint32_t seed, float deviation = 0.02f) {
  std::mt19937 random(seed);
  std::normal_distribution<float> normal(0.0f, deviation);
  std::vector<float> row(count);
  for (float& value : row) value = normal(random);
  return row;
}

TEST(RoundToNearest, TheExtremeElementBecomesMinusEight) {
  for (uint32_t seed = 0; seed < 50; ++seed) {
    const auto row = normal_row(128, seed);
    const auto result = round_int4(row, 128);
    const auto extreme = std::max_element(
        row.begin(), row.end(), [](float a, float b) { return std::fabs(a) < std::fabs(b); });
    EXPECT_EQ(result.codes[static_cast<size_t>(extreme - row.begin())], 0);
    // So the scale's sign is the opposite of the extreme's.
    EXPECT_EQ((result.scales[0] & 0x8000) != 0, *extreme > 0);
  }
  // Both extremes present: the positive one decides.
  const auto tie = round_int4({1.0f, -1.0f, 0, 0, 0, 0, 0, 0}, 8);
  EXPECT_EQ(f16_to_f32(tie.scales[0]), -0.125f);
  EXPECT_EQ(tie.codes[0], 0);
  EXPECT_EQ(tie.codes[1], 15);  // +8 is not there: clamped to 7
}

TEST(RoundToNearest, EveryElementGetsItsNearestCode) {
  const auto row = normal_row(200, 7);
  const auto result = round_int4(row, 64);  // the last group has 8
  ASSERT_EQ(result.scales.size(), 4u);
  double squared = 0;
  float largest = 0;
  for (size_t i = 0; i < row.size(); ++i) {
    const float scale = f16_to_f32(result.scales[i / 64]);
    const auto error_of = [&](int code) {
      return std::fabs(row[i] - static_cast<float>(code - 8) * scale);
    };
    const float error = error_of(result.codes[i]);
    for (int code = 0; code < 16; ++code) EXPECT_LE(error, error_of(code) + 1e-9f) << i;
    squared += static_cast<double>(error) * error;
    largest = std::max(largest, error);
  }
  EXPECT_NEAR(result.error.squared_error, squared, 1e-12);
  EXPECT_FLOAT_EQ(result.error.largest, largest);
}

TEST(RoundToNearest, TiesGoToEvenWithTheRoundedScale) {
  // Scale 1 (extreme -8): 0.5 -> 0, 1.5 -> 2, 2.5 -> 2, -0.5 -> 0, -1.5 -> -2, 6.5 -> 6.
  const auto result = round_int4({-8.0f, 0.5f, 1.5f, 2.5f, -0.5f, -1.5f, 6.5f, 7.5f}, 8);
  EXPECT_EQ(f16_to_f32(result.scales[0]), 1.0f);
  EXPECT_EQ(result.codes, (std::vector<uint8_t>{0, 8, 10, 10, 8, 6, 14, 15}));
}

TEST(RoundToNearest, ZerosGiveNoNan) {
  const auto result = round_int4(std::vector<float>(64, 0.0f), 32);
  EXPECT_EQ(result.fault, RowFault::kNone);
  EXPECT_EQ(result.codes, std::vector<uint8_t>(64, 8));
  for (const uint16_t scale : result.scales) EXPECT_EQ(scale, f32_to_f16(1e-5f));
  EXPECT_EQ(result.error.relative(), 0);
  const auto negative = round_int4(std::vector<float>(64, -0.0f), 32);
  EXPECT_EQ(negative.codes, std::vector<uint8_t>(64, 8));
}

TEST(RoundToNearest, SmallGroupsGetSubnormalScales) {
  // absmax / 8 below 1e-5 is raised to it, before the cast to fp16.
  const auto result = round_int4({1e-7f, -2e-6f, 0, 0, 0, 0, 0, 0}, 8);
  EXPECT_EQ(result.scales[0], f32_to_f16(1e-5f));
  EXPECT_LT(result.scales[0], 0x0400);  // subnormal
  EXPECT_EQ(result.codes[1], 8);
  const auto positive = round_int4({1e-6f, 0, 0, 0, 0, 0, 0, 0}, 8);
  EXPECT_EQ(positive.scales[0], f32_to_f16(-1e-5f));
}

TEST(RoundToNearest, RefusesWhatItCannotHold) {
  for (const float bad :
       {std::numeric_limits<float>::quiet_NaN(), -std::numeric_limits<float>::quiet_NaN(),
        std::numeric_limits<float>::infinity(), -std::numeric_limits<float>::infinity()}) {
    auto row = normal_row(64, 3);
    row[40] = bad;
    EXPECT_EQ(round_int4(row, 32).fault, RowFault::kNotFinite);
    std::vector<uint8_t> codes(64), scales(2);
    WeightError error;
    EXPECT_EQ(round_row_mxfp4(row, codes.data(), scales.data(), error), RowFault::kNotFinite);
  }
  EXPECT_EQ(round_int4({1e6f, 0, 0, 0, 0, 0, 0, 0}, 8).fault, RowFault::kOverflow);
  EXPECT_EQ(round_int4({-524032.0f, 0, 0, 0, 0, 0, 0, 0}, 8).fault, RowFault::kNone);  // 65504 * 8
}

struct Mxfp4Row {
  std::vector<uint8_t> codes;
  std::vector<uint8_t> scales;
  WeightError error;
};

Mxfp4Row round_mxfp4(const std::vector<float>& row) {
  Mxfp4Row result{
      std::vector<uint8_t>(row.size(), 0xee), std::vector<uint8_t>(row.size() / 32), {}};
  EXPECT_EQ(round_row_mxfp4(row, result.codes.data(), result.scales.data(), result.error),
            RowFault::kNone);
  return result;
}

TEST(RoundToNearest, Mxfp4SharesTheExponentOfItsLargest) {
  std::vector<float> row(32, 0.0f);
  row[3] = 6.0f;
  row[4] = -1.25f;
  auto result = round_mxfp4(row);
  EXPECT_EQ(result.scales[0], 127);
  EXPECT_EQ(e2m1_to_f32(result.codes[3]), 6.0f);
  EXPECT_EQ(e2m1_to_f32(result.codes[4]), -1.0f);  // a tie: even
  row[3] = 7.9f;                                   // floor(log2) is 2 still: saturates at 6
  result = round_mxfp4(row);
  EXPECT_EQ(result.scales[0], 127);
  EXPECT_EQ(e2m1_to_f32(result.codes[3]), 6.0f);
  EXPECT_NEAR(result.error.largest, 1.9f, 1e-6f);
  row[3] = 8.0f;
  result = round_mxfp4(row);
  EXPECT_EQ(result.scales[0], 128);
  EXPECT_EQ(e2m1_to_f32(result.codes[3]), 4.0f);
}

TEST(RoundToNearest, Mxfp4ErrorIsWhatTheCodesGive) {
  const auto row = normal_row(320, 11);
  const auto result = round_mxfp4(row);
  double squared = 0;
  for (size_t i = 0; i < row.size(); ++i) {
    const double restored = static_cast<double>(e2m1_to_f32(result.codes[i])) *
                            static_cast<double>(e8m0_to_f32(result.scales[i / 32]));
    squared += (row[i] - restored) * (row[i] - restored);
  }
  EXPECT_NEAR(result.error.squared_error, squared, 1e-12);
  EXPECT_GT(result.error.relative(), 0.05);
  EXPECT_LT(result.error.relative(), 0.2);
}

TEST(RoundToNearest, Mxfp4ClampsItsExponents) {
  std::vector<float> row(64, 0.0f);
  row[0] = std::numeric_limits<float>::denorm_min();
  row[32] = std::numeric_limits<float>::max();
  const auto result = round_mxfp4(row);
  EXPECT_EQ(result.scales[0], 0);
  EXPECT_EQ(result.scales[1], 252);
}

TEST(RoundToNearest, Mxfp4ZeroBlocksDoNotWidenTheRow) {
  std::vector<float> row(96, 0.0f);
  for (size_t i = 32; i < 64; ++i) row[i] = -0.0f;
  row[64] = 0.01f;
  const auto result = round_mxfp4(row);
  EXPECT_EQ(result.scales[0], result.scales[2]);
  EXPECT_EQ(result.scales[1], result.scales[2]);
  for (size_t i = 0; i < 64; ++i) EXPECT_EQ(result.codes[i], 0);
  const auto zeros = round_mxfp4(std::vector<float>(64, 0.0f));
  EXPECT_EQ(zeros.scales, (std::vector<uint8_t>{127, 127}));
}

}  // namespace
}  // namespace radiance
