#include "kernels/gfx1201/policy.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

namespace radiance::gfx1201 {
namespace {

const WeightShape kGateUp{RADIANCE_AUTOROUND_INT4, 17408, 5120, 128};
const WeightShape kDown{RADIANCE_AUTOROUND_INT4, 5120, 8704, 128};
const WeightShape kOut{RADIANCE_AUTOROUND_INT4, 5120, 5120, 128};

Choice planned(const WeightShape& shape, int64_t m, const Traits& traits = {}) {
  return choose(shape, m, traits, nullptr);
}

// The project's log: the fastest measured split of each cell on 64 compute units.
TEST(Gfx1201Policy, PicksTheFastestMeasuredSplit) {
  const struct {
    const WeightShape& shape;
    int64_t m;
    int split;
  } cells[] = {{kGateUp, 5, 1}, {kGateUp, 16, 1}, {kGateUp, 40, 1}, {kGateUp, 64, 1}, {kDown, 5, 4},
               {kDown, 40, 4},  {kDown, 64, 2},   {kOut, 16, 4},    {kOut, 64, 2}};
  for (const auto& cell : cells) {
    const Choice choice = planned(cell.shape, cell.m);
    EXPECT_EQ(choice.kernel, Kernel::kDecode);
    EXPECT_FALSE(choice.baseline);
    EXPECT_EQ(choice.split, cell.split) << cell.shape.n << "x" << cell.shape.k << " m " << cell.m;
    EXPECT_EQ(choice.row_tiles, (cell.m + 15) / 16);
  }
}

TEST(Gfx1201Policy, OtherMachinesSplitByTheirOwnSize) {
  // A machine of half the size is full with half the workgroups.
  EXPECT_EQ(planned(kDown, 5, {20, true}).split, 1);
  EXPECT_EQ(planned(kGateUp, 5, {256, true}).split, 4);
  // One unit has nothing to fill.
  for (const int64_t m : {1, 17, 33, 64}) EXPECT_EQ(planned(kOut, m, {1, true}).split, 1);
}

TEST(Gfx1201Policy, WidePrefillFrom2048RowsOn64Units) {
  for (const auto* shape : {&kGateUp, &kDown, &kOut}) {
    EXPECT_EQ(config_name(planned(*shape, 65)), "prefill/n2");
    EXPECT_EQ(config_name(planned(*shape, 2047)), "prefill/n2");
    EXPECT_EQ(config_name(planned(*shape, 2048)), "prefill/n4");
    EXPECT_EQ(config_name(planned(*shape, 8192)), "prefill/n4");
  }
  EXPECT_EQ(config_name(planned(kGateUp, 1024, {32, true})), "prefill/n4");
}

TEST(Gfx1201Policy, WhatTheMatrixKernelsDoNotTakeIsGeneral) {
  const auto config = [](int64_t n, int64_t k, int64_t group) {
    return config_name(planned({RADIANCE_AUTOROUND_INT4, n, k, group}, 3));
  };
  EXPECT_EQ(config(64, 256, 16), "general");
  EXPECT_EQ(config(64, 256, 96), "general");
  EXPECT_EQ(config(64, 320, 64), "general");
  EXPECT_EQ(config(64, 320, 128), "general");  // a short last group
  EXPECT_EQ(config(64, 72, 72), "general");
  EXPECT_EQ(config(64, int64_t{1} << 24, 128), "general");
  EXPECT_NE(config(64, 256, 256), "general");
  EXPECT_NE(config(1, 128, 128), "general");
  EXPECT_NE(config(64, 256, 64), "general");
  EXPECT_NE(config(64, 256, 32), "general");
}

TEST(Gfx1201Policy, ADeviceThatFlushesSubnormalsGetsTheTable) {
  for (const int64_t m : {1, 64, 65, 4096}) {
    const std::vector<Plan> all = plans(kOut, m, {64, false});
    for (const Plan& plan : all) {
      EXPECT_NE(plan.config.find("/baseline/"), std::string::npos) << plan.config;
      EXPECT_NE(plan.reason.find("subnormals"), std::string::npos) << plan.reason;
    }
  }
}

TEST(Gfx1201Policy, GroupsBelow128HaveNoOtherStructure) {
  const WeightShape shape{RADIANCE_AUTOROUND_INT4, 5120, 5120, 64};
  for (const Plan& plan : plans(shape, 3, {})) {
    EXPECT_EQ(plan.config.find("baseline"), std::string::npos) << plan.config;
  }
  EXPECT_EQ(scale_folds(shape, true), 2);
  EXPECT_EQ(scale_folds({RADIANCE_AUTOROUND_INT4, 5120, 5120, 32}, true), 4);
  EXPECT_EQ(scale_folds({RADIANCE_AUTOROUND_INT4, 5120, 5120, 256}, true), 1);
  EXPECT_EQ(config_name(choose(shape, 3, {64, false}, nullptr)), "general");
}

TEST(Gfx1201Policy, NamesFindTheirChoiceAndNoOther) {
  for (const int64_t m : {1, 16, 17, 64, 65, 3000}) {
    std::set<std::string> names;
    for (const Plan& plan : plans(kDown, m, {})) {
      EXPECT_TRUE(names.insert(plan.config).second) << plan.config;
      const Choice choice = choose(kDown, m, {}, plan.config.c_str());
      EXPECT_EQ(config_name(choice), plan.config);
      if (choice.kernel == Kernel::kDecode) {
        EXPECT_GE(choice.row_tiles * kTileM, m);
      }
      EXPECT_FALSE(plan.reason.empty());
    }
    EXPECT_EQ(names.size(), m <= 64 ? 11u : 5u);
    EXPECT_THROW(choose(kDown, m, {}, "decode/r9/s1"), Error);
  }
  // K of one slab has nothing to split.
  for (const Plan& plan : plans({RADIANCE_AUTOROUND_INT4, 48, 128, 128}, 1, {})) {
    EXPECT_EQ(plan.config.find("/s2"), std::string::npos);
    EXPECT_EQ(plan.config.find("/s4"), std::string::npos);
  }
}

TEST(Gfx1201Policy, TheWorkspaceHoldsEverySplitAndGrowsWithTheRows) {
  for (const auto* shape : {&kGateUp, &kDown, &kOut}) {
    int64_t before = 0;
    for (int64_t m = 1; m < 200; ++m) {
      const Workspace w = lay_out_workspace(*shape, m, {});
      EXPECT_GE(w.bytes, before);
      before = w.bytes;
      EXPECT_EQ(w.counters, 0);
      const int64_t blocks = (shape->n + kDecodeN - 1) / kDecodeN;
      EXPECT_EQ(w.partials, kCounterBytes);
      EXPECT_GE(kCounterBytes, blocks * 4);
      EXPECT_GE(w.xq - w.scales, m * 4);
      EXPECT_GE(w.bytes - w.xq, m * shape->k);
      EXPECT_EQ(w.partials % 256 + w.scales % 256 + w.xq % 256, 0);
      for (const Plan& plan : plans(*shape, m, {})) {
        const Choice choice = choose(*shape, m, {}, plan.config.c_str());
        if (choice.kernel != Kernel::kDecode || choice.split == 1) continue;
        EXPECT_GE(w.scales - w.partials,
                  blocks * choice.split * decode_partial_floats(choice.row_tiles) * 4);
      }
    }
  }
  const Workspace general = lay_out_workspace({RADIANCE_AUTOROUND_INT4, 64, 72, 72}, 3, {});
  EXPECT_EQ(general.scales, kCounterBytes) << "other weights' counters stay zero";
  // A million features have a counter for each block; more of them are not split.
  const int64_t most = kCounterBytes / 4 * kDecodeN;
  for (const int64_t n : {most, most + 8}) {
    bool splits = false;
    for (const Plan& plan : plans({RADIANCE_AUTOROUND_INT4, n, 1024, 128}, 1, {})) {
      splits =
          splits ||
          choose({RADIANCE_AUTOROUND_INT4, n, 1024, 128}, 1, {}, plan.config.c_str()).split > 1;
    }
    EXPECT_EQ(splits, n == most);
  }
}

}  // namespace
}  // namespace radiance::gfx1201
