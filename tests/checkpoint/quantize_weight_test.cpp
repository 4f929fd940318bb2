#include "checkpoint/quantize_weight.hpp"

#include <limits>
#include <random>

#include "numerics/f16.hpp"
#include "support.hpp"

namespace radiance {
namespace {

using test::expect_error;

std::vector<float> random_matrix(int64_t n, int64_t k, uint32_t seed) {
  std::mt19937 random(seed);
  std::normal_distribution<float> normal(0.0f, 0.02f);
  std::vector<float> values(static_cast<size_t>(n * k));
  for (float& value : values) value = normal(random);
  return values;
}

FloatMatrix view(const std::vector<float>& values, int64_t n, int64_t k) {
  return {Dtype::kF32, {reinterpret_cast<const uint8_t*>(values.data()), values.size() * 4}, n, k};
}

TEST(QuantizeWeight, PlacesEveryCodeAndScale) {
  const int64_t n = 40;  // not a multiple of the block of rows
  const int64_t k = 200;
  const auto values = random_matrix(n, k, 1);
  const auto result = quantize_int4(view(values, n, k), 64, 1);
  ASSERT_EQ(result.qweight.size(), 25u * 40u);
  ASSERT_EQ(result.scales.size(), 4u * 40u);
  ASSERT_EQ(result.qzeros, std::vector<uint32_t>(4 * 5, 0x77777777u));
  WeightError sum;
  for (int64_t row = 0; row < n; ++row) {
    std::vector<uint8_t> codes(200);
    std::vector<uint16_t> scales(4);
    round_row_int4({values.data() + row * k, 200}, 64, codes.data(), scales.data(), sum);
    for (int64_t i = 0; i < k; ++i) {
      const uint32_t word = result.qweight[static_cast<size_t>(i / 8 * n + row)];
      ASSERT_EQ(word >> (4 * (i % 8)) & 0xf, codes[static_cast<size_t>(i)]) << row << ' ' << i;
    }
    for (int64_t g = 0; g < 4; ++g) {
      ASSERT_EQ(result.scales[static_cast<size_t>(g * n + row)], scales[static_cast<size_t>(g)]);
    }
  }
  EXPECT_NEAR(result.error.relative(), sum.relative(), 1e-12);
}

TEST(QuantizeWeight, ThreadsChangeNothing) {
  const auto values = random_matrix(200, 96, 2);
  const auto one = quantize_int4(view(values, 200, 96), -1, 1);
  const auto many = quantize_int4(view(values, 200, 96), -1, 7);
  EXPECT_EQ(one.qweight, many.qweight);
  EXPECT_EQ(one.scales, many.scales);
  EXPECT_EQ(one.error.squared_error, many.error.squared_error);
  EXPECT_EQ(one.scales.size(), 200u);
  const auto mx_one = quantize_mxfp4(view(values, 200, 96), 1);
  const auto mx_many = quantize_mxfp4(view(values, 200, 96), 7);
  EXPECT_EQ(mx_one.weight_packed, mx_many.weight_packed);
  EXPECT_EQ(mx_one.weight_scale, mx_many.weight_scale);
}

TEST(QuantizeWeight, Mxfp4PutsTheLowerKInTheLowerNibble) {
  const auto values = random_matrix(8, 64, 3);
  const auto result = quantize_mxfp4(view(values, 8, 64), 2);
  for (int64_t row = 0; row < 8; ++row) {
    std::vector<uint8_t> codes(64);
    std::vector<uint8_t> scales(2);
    WeightError error;
    round_row_mxfp4({values.data() + row * 64, 64}, codes.data(), scales.data(), error);
    for (int64_t i = 0; i < 64; ++i) {
      const uint8_t byte = result.weight_packed[static_cast<size_t>(row * 32 + i / 2)];
      ASSERT_EQ(i % 2 == 0 ? byte & 0xf : byte >> 4, codes[static_cast<size_t>(i)]);
    }
    EXPECT_EQ(result.weight_scale[static_cast<size_t>(row * 2)], scales[0]);
  }
}

TEST(QuantizeWeight, NamesTheFirstBadElement) {
  auto values = random_matrix(200, 64, 4);
  values[150 * 64 + 7] = std::numeric_limits<float>::infinity();
  values[90 * 64 + 33] = std::numeric_limits<float>::quiet_NaN();
  for (const int threads : {1, 5}) {
    expect_error(RADIANCE_BAD_INPUT, {"[90][33]", "nan", "finite"},
                 [&] { quantize_int4(view(values, 200, 64), 32, threads); });
    expect_error(RADIANCE_BAD_INPUT, {"[90][33]"},
                 [&] { quantize_mxfp4(view(values, 200, 64), threads); });
  }
  values = random_matrix(16, 64, 5);
  values[5 * 64] = 1e7f;
  expect_error(RADIANCE_BAD_INPUT, {"row 5", "overflows fp16"},
               [&] { quantize_int4(view(values, 16, 64), 32, 1); });
}

}  // namespace
}  // namespace radiance
