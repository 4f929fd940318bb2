#include "lab/reference.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "lab/reference_kernel.hpp"
#include "numerics/e4m3.hpp"

namespace radiance::lab {
namespace {

// The contract's formula, term by term.
void expect_naive(const HostWeight& weight, const QuantizedRows& rows) {
  const Reference reference = reference_product(weight, rows);
  for (int64_t m = 0; m < rows.m; ++m) {
    for (int64_t n = 0; n < weight.shape.n; ++n) {
      double value = 0, magnitude = 0;
      for (int64_t k = 0; k < weight.shape.k; ++k) {
        const double x = e4m3_to_f32(rows.xq[static_cast<size_t>(m * rows.k + k)]);
        value += weight.value(n, k) * x;
        magnitude += 8 * std::fabs(weight.scale(k / weight.shape.group, n) * x);
      }
      const double scale = rows.scales[static_cast<size_t>(m)];
      const auto at = static_cast<size_t>(m * weight.shape.n + n);
      ASSERT_NEAR(reference.value[at], value * scale, 1e-13 * magnitude * scale);
      ASSERT_NEAR(reference.magnitude[at], magnitude * scale, 1e-12 * magnitude * scale);
    }
  }
}

TEST(Reference, EqualsTheFormula) {
  Random random(11);
  // Shapes that are no multiple of a tile, short last groups, one group, groups past a slab.
  const struct {
    int64_t m, n, k, group;
  } kShapes[] = {{1, 1, 8, 8},     {5, 17, 200, 128}, {4, 33, 136, 32},
                 {7, 16, 640, -1}, {3, 40, 512, 320}, {6, 9, 72, 24}};
  for (const auto& shape : kShapes) {
    const HostWeight weight = random_int4_weight(random, shape.n, shape.k, shape.group);
    const HostRows rows = random_rows(random, RADIANCE_BF16, shape.m, shape.k);
    expect_naive(weight, quantize_rows(rows, 64));
  }
  const HostWeight mxfp4 = random_mxfp4_weight(random, 21, 160);
  expect_naive(mxfp4, quantize_rows(random_rows(random, RADIANCE_F32, 5, 160), 32));
}

TEST(Reference, ARowThatIsNotFiniteIsNan) {
  Random random(12);
  const HostWeight weight = random_int4_weight(random, 20, 64, 32);
  HostRows rows = random_rows(random, RADIANCE_F32, 3, 64);
  rows.set(1, 5, -std::numeric_limits<float>::infinity());
  const QuantizedRows quantized = quantize_rows(rows, 32);
  EXPECT_TRUE(std::isnan(quantized.scales[1]));
  EXPECT_TRUE(std::isnan(quantized.row_sums[2]));
  EXPECT_EQ(quantized.xq[64], 0x7f);
  const Reference reference = reference_product(weight, quantized);
  for (int64_t at = 0; at < 60; ++at) {
    EXPECT_EQ(std::isnan(reference.value[static_cast<size_t>(at)]), at / 20 == 1);
  }
}

TEST(Reference, RowSumsAreExactSums) {
  HostRows rows = empty_rows(RADIANCE_F32, 1, 72);
  for (int64_t k = 0; k < 72; ++k) rows.set(0, k, k % 2 == 0 ? 448.0f : 0x1p-9f);
  const QuantizedRows quantized = quantize_rows(rows, 32);
  ASSERT_EQ(quantized.row_sums.size(), 3u);
  EXPECT_EQ(quantized.row_sums[0], 16 * 448.0f + 16 * 0x1p-9f);
  EXPECT_EQ(quantized.row_sums[2], 4 * 448.0f + 4 * 0x1p-9f);
}

TEST(Reference, KernelsAgreeBitForBit) {
  Random random(13);
  constexpr int kDepth = 37;
  std::vector<double> values(kDepth * kReferenceTile), x(kReferenceRows * kDepth);
  for (double& value : values) value = static_cast<double>(random.below(16) - 8);
  for (double& value : x) value = e4m3_to_f32(static_cast<u8>(random.below(127)));
  auto run = [&](ReferenceKernel kernel) {
    std::vector<double> sums(kReferenceRows * kReferenceTile, 0.25);
    kernel(values.data(), kDepth, x.data(), kDepth, sums.data());
    return sums;
  };
  const std::vector<double> plain = run(reference_kernel_plain);
  double first = 0.25;
  for (size_t k = 0; k < kDepth; ++k) first += values[k * kReferenceTile] * x[k];
  EXPECT_EQ(plain[0], first);
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) {
    EXPECT_EQ(run(reference_kernel_avx2), plain);
  }
  if (__builtin_cpu_supports("avx512f")) {
    EXPECT_EQ(run(reference_kernel_avx512), plain);
  }
#endif
}

}  // namespace
}  // namespace radiance::lab
