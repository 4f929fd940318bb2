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
  EXPECT_EQ(plans(shape, 128, 132).front().config, "prefill/t128");
  EXPECT_EQ(plans(shape, 256, 132).front().config, "prefill/t128");  // 40 tiles of 256
  EXPECT_EQ(plans(shape, 512, 132).front().config, "prefill/t256");
  EXPECT_EQ(plans({RADIANCE_AUTOROUND_INT4, 17408, 5120, 128}, 129, 132).front().config,
            "prefill/t256");
  EXPECT_EQ(plans({RADIANCE_AUTOROUND_INT4, 64, 120, 40}, 3, 132).front().config, "general");
}

TEST(Sm90Policy, FeaturesWithoutCountersTakePrefill) {
  EXPECT_EQ(plans({RADIANCE_AUTOROUND_INT4, 1 << 20, 512, 128}, 1, 132).front().config,
            "decode/t8");
  const auto more = plans({RADIANCE_AUTOROUND_INT4, (1 << 20) + 8, 512, 128}, 1, 132);
  ASSERT_EQ(more.size(), 2U);  // tiles of 128 and 256 tokens
  EXPECT_EQ(more.front().config, "prefill/t128");
}

TEST(Sm90Policy, TheNextKernelComesLateOnlyBesideLongParts) {
  EXPECT_EQ(decode_trigger(272 * 40, 132, 8), 18);
  EXPECT_EQ(decode_trigger(80 * 68, 132, 8), -1);
  EXPECT_EQ(decode_trigger(136 * 40 * 4, 132, 64), -1);  // none has room beside this one
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

TEST(Sm90Policy, AWorkspaceHoldsTheSumsOfEveryConfiguration) {
  const WeightShape shape{RADIANCE_AUTOROUND_INT4, 5120, 5120, 128};
  int64_t before = 0;
  for (const int64_t m : {1, 8, 9, 32, 33, 64, 65, 100, 128, 129, 256, 4096}) {
    for (const Plan& plan : plans(shape, m, 132)) {
      const Choice choice = choose(shape, m, 132, plan.config.c_str());
      EXPECT_LE(partial_bytes(choice, m), partial_bytes(m)) << plan.config << " of " << m;
      if (prefill_grid(m, 80, 40, 132).shared_tiles > 0) {
        EXPECT_GT(partial_bytes(choice, m), 0) << plan.config << " of " << m;
      }
    }
    EXPECT_LE(before, partial_bytes(m));  // a workspace serves fewer tokens too
    before = partial_bytes(m);
  }
}

TEST(Sm90Policy, PrefillSharesWhatDoesNotGoEvenly) {
  EXPECT_EQ(prefill_grid(256, 264, 40, 132).shared_tiles, 0);    // two rounds
  EXPECT_EQ(prefill_grid(256, 136, 40, 132).shared_tiles, 136);  // one and four tiles
  EXPECT_EQ(prefill_grid(2048, 1088, 40, 132).shared_tiles, 32 + 132);
  EXPECT_EQ(prefill_grid(256, 40, 68, 132).blocks, 132);
  EXPECT_EQ(prefill_grid(256, 2, 4, 132).blocks, 2);  // too little to share
  EXPECT_EQ(prefill_grid(64, 136, 40, 132).shared_tiles, 0);
  EXPECT_EQ(prefill_band(5120, 256), 9);
  EXPECT_EQ(prefill_band(1 << 20, 256), 1);
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
      // What the multiplying warps take, the others give.
      if (const int registers = decode_consumer_registers(tokens); registers != 0) {
        const int threads = decode_threads(tokens), multiplying = 128 * decode_warpgroups(tokens);
        const int start = 65536 / decode_blocks(tokens) / threads / 8 * 8;
        EXPECT_EQ(threads % 128, 0);
        EXPECT_LE(multiplying * registers + (threads - multiplying) * kDecodeProducerRegisters,
                  threads * start);
      }
    }
    for (const int tokens : {128, 256}) {
      EXPECT_GE(prefill_outputs(kind, tokens), 1);
      EXPECT_LE(prefill_stages(kind, tokens) * prefill_stage_bytes(kind, tokens) +
                    kPrefillWarpgroups * prefill_outputs(kind, tokens) * kPrefillOutputBytes +
                    kPrefillControlBytes,
                kSharedBytes);
    }
  }
}

}  // namespace
}  // namespace radiance::sm90
