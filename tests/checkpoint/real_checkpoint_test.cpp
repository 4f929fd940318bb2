// One decoder layer of a model that auto-round itself exported.
#include <algorithm>
#include <cmath>

#include "checkpoint/inspection.hpp"
#include "numerics/f16.hpp"
#include "support.hpp"

namespace radiance {
namespace {

class RealCheckpoint : public testing::TestWithParam<int> {
 protected:
  void SetUp() override {
    directory_ = std::filesystem::path(RADIANCE_TEST_DATA) /
                 ("smollm2-135m-instruct-layer0-g" + std::to_string(GetParam()));
    if (!std::filesystem::exists(directory_)) GTEST_SKIP() << directory_ << " is absent";
  }
  std::filesystem::path directory_;
};

TEST_P(RealCheckpoint, IsServable) {
  const auto checkpoint = Checkpoint::open(directory_);
  EXPECT_TRUE(checkpoint.servable());
  EXPECT_EQ(checkpoint.modules().size(), 7u);
  const Inspection inspection = inspect(checkpoint);
  EXPECT_EQ(inspection.zero, "8");
  EXPECT_EQ(inspection.g_idx, "absent");
  EXPECT_EQ(inspection.group, GetParam());
  EXPECT_EQ(inspection.packing, "auto_round:auto_gptq");
  EXPECT_NEAR(inspection.bits_per_weight, 4 + 20.0 / GetParam(), 0.02);
}

TEST_P(RealCheckpoint, LoadsEveryLayer) {
  const auto checkpoint = Checkpoint::open(directory_);
  for (const LinearModule& module : checkpoint.modules()) {
    const Int4Weight weight = checkpoint.load_int4(module);
    EXPECT_EQ(weight.group, GetParam());
    EXPECT_EQ(weight.codes.size(), static_cast<size_t>(weight.k / 8 * weight.n));
    // K = 576 has a short last group at 128.
    const auto groups = (weight.k + weight.group - 1) / weight.group;
    EXPECT_EQ(weight.scales.size(), static_cast<size_t>(groups * weight.n));
    const auto negative = std::count_if(weight.scales.begin(), weight.scales.end(),
                                        [](uint16_t scale) { return (scale & 0x8000) != 0; });
    const double share = static_cast<double>(negative) / static_cast<double>(weight.scales.size());
    EXPECT_GT(share, 0.4) << module.name;
    EXPECT_LT(share, 0.6) << module.name;
    // Trained weights, not noise: their scales are small.
    for (const uint16_t scale : weight.scales) ASSERT_LT(std::fabs(f16_to_f32(scale)), 1.0f);
  }
}

INSTANTIATE_TEST_SUITE_P(Groups, RealCheckpoint, testing::Values(64, 128),
                         [](const auto& group) { return "g" + std::to_string(group.param); });

}  // namespace
}  // namespace radiance
