#include "kernels/sm90/policy.hpp"

#include <gtest/gtest.h>

namespace radiance::sm90 {
namespace {

TEST(Sm90Policy, TokensChooseTheTile) {
  const WeightShape shape{RADIANCE_AUTOROUND_INT4, 5120, 5120, 128};
  EXPECT_EQ(plans(shape, 1, 132).front().config, "decode/t8");
  EXPECT_EQ(plans(shape, 9, 132).front().config, "decode/t16");
  EXPECT_EQ(plans(shape, 64, 132).front().config, "decode/t64");
  EXPECT_EQ(plans(shape, 65, 132).front().config, "prefill/t128");
  EXPECT_EQ(plans({RADIANCE_AUTOROUND_INT4, 64, 120, 40}, 3, 132).front().config, "general");
}

TEST(Sm90Policy, FeaturesWithoutCountersTakePrefill) {
  EXPECT_EQ(plans({RADIANCE_AUTOROUND_INT4, 1 << 20, 512, 128}, 1, 132).front().config,
            "decode/t8");
  const auto more = plans({RADIANCE_AUTOROUND_INT4, (1 << 20) + 8, 512, 128}, 1, 132);
  ASSERT_EQ(more.size(), 1U);
  EXPECT_EQ(more.front().config, "prefill/t128");
}

TEST(Sm90Policy, ThePlanIsWhatRuns) {
  for (const int64_t group : {64, 40}) {
    const WeightShape shape{RADIANCE_AUTOROUND_INT4, 64, 320, group};
    for (const int64_t m : {1, 8, 17, 33, 64, 65, 4096}) {
      for (const Plan& plan : plans(shape, m, 132)) {
        const Choice choice = choose(shape, m, 132, plan.config.c_str());
        EXPECT_EQ(choice.kernel == Choice::Kernel::kGeneral, group == 40);
        if (choice.kernel == Choice::Kernel::kDecode) {
          EXPECT_GE(choice.tokens, m);
        }
      }
      EXPECT_THROW(choose(shape, m, 132, "decode/t7"), Error);
    }
  }
}

TEST(Sm90Geometry, EveryConfigurationFitsItsSharedMemory) {
  for (const ScaleKind kind :
       {ScaleKind::kSlab, ScaleKind::kHalf, ScaleKind::kStep, ScaleKind::kE8m0}) {
    EXPECT_EQ(unit_bytes(kind) % 16, 0);  // bulk copies
    for (const int tokens : {8, 16, 32, 64}) {
      const int bytes = decode_stages(kind, tokens) * decode_stage_bytes(kind, tokens) +
                        decode_reduce_bytes(tokens);
      EXPECT_GE(decode_stages(kind, tokens), 6);
      EXPECT_EQ(decode_stages(kind, tokens) % kDecodeProducers, 0);
      EXPECT_LE(bytes + kDecodeBarrierBytes, decode_shared_bytes(tokens));
      // 1 KB of each block is the system's.
      EXPECT_LE(decode_blocks(tokens) * (decode_shared_bytes(tokens) + 1024), 228 * 1024);
    }
    EXPECT_GE(prefill_stages(kind), 3);
  }
}

}  // namespace
}  // namespace radiance::sm90
