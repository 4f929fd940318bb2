#include "census/main_loop.hpp"

#include <gtest/gtest.h>

#include "tests/census/listing.hpp"

namespace radiance::census {
namespace {

using test::listing;

MainLoop main_loop(const std::string& text) {
  const std::vector<Instruction> instructions = listing(text);
  const ControlFlow flow = find_control_flow(instructions);
  const std::optional<size_t> found = find_main_loop(instructions, flow);
  if (!found) throw std::runtime_error("no loop");
  return describe_loop(instructions, flow, flow.loops[*found]);
}

constexpr char kWmma[] = "v_wmma_f32_16x16x16_fp8_fp8 v[0:7], v[8:9], v[10:11], v[0:7]\n";

std::string repeat(int times, const std::string& text) {
  std::string all;
  for (int i = 0; i < times; ++i) all += text;
  return all;
}

TEST(ControlFlow, StraightCodeHasNoLoop) {
  const auto instructions = listing("v_nop\ns_cbranch_scc0 out\nv_nop\nout:\ns_endpgm");
  const ControlFlow flow = find_control_flow(instructions);
  EXPECT_EQ(flow.blocks.size(), 3u);
  EXPECT_TRUE(flow.loops.empty());
  EXPECT_FALSE(find_main_loop(instructions, flow).has_value());
  EXPECT_TRUE(find_control_flow({}).blocks.empty());
}

TEST(ControlFlow, DominatorsOfADiamond) {
  const ControlFlow flow = find_control_flow(listing(R"(
    s_cbranch_scc0 right
    v_nop
    s_branch join
  right:
    v_nop
  join:
    s_endpgm)"));
  ASSERT_EQ(flow.blocks.size(), 4u);
  EXPECT_EQ(flow.dominators, (std::vector<size_t>{0, 0, 0, 0}));
}

// A cycle that is entered in the middle as well as at its top has no header.
TEST(ControlFlow, ACycleWithTwoEntriesIsNoNaturalLoop) {
  EXPECT_TRUE(find_control_flow(listing(R"(
    s_cbranch_scc0 middle
  top:
    v_nop
  middle:
    v_nop
    s_cbranch_scc1 top
    s_endpgm)"))
                  .loops.empty());
}

TEST(ControlFlow, CodeThatNothingReachesIsHarmless) {
  const ControlFlow flow = find_control_flow(listing(R"(
    s_branch out
  dead:
    v_nop
    s_branch dead
  out:
    s_endpgm)"));
  EXPECT_EQ(flow.blocks.size(), 3u);
}

TEST(MainLoop, TestedAtTheTop) {
  const MainLoop loop = main_loop(R"(
    s_mov_b32 s0, 0
  top:
    s_cmp_eq_u32 s0, s1
    s_cbranch_scc1 out
    v_add_f32_e32 v0, v0, v1
    s_add_co_i32 s0, s0, 1
    s_branch top
  out:
    s_endpgm)");
  EXPECT_EQ(loop.counts.instructions, 5);
  EXPECT_EQ(loop.counts.valu, 1);
  EXPECT_EQ(loop.counts.salu, 2);
  EXPECT_EQ(loop.counts.branches, 2);
  EXPECT_EQ(loop.address, 0x1008u);
}

// The first iteration is guarded outside, the test stands at the bottom.
TEST(MainLoop, Rotated) {
  const MainLoop loop = main_loop(R"(
    s_cmp_eq_u32 s1, 0
    s_cbranch_scc1 out
  top:
    v_add_f32_e32 v0, v0, v1
    s_add_co_i32 s0, s0, 1
    s_cmp_lg_u32 s0, s1
    s_cbranch_scc1 top
  out:
    s_endpgm)");
  EXPECT_EQ(loop.counts.instructions, 4);
  EXPECT_EQ(loop.address, 0x1010u);
}

// Entered by a branch to the test, which stands before the rest of the body.
TEST(MainLoop, RotatedWithTheHeaderInTheMiddle) {
  const MainLoop loop = main_loop(R"(
    s_branch test
  body:
    v_add_f32_e32 v0, v0, v1
    v_add_f32_e32 v0, v0, v1
  test:
    s_add_co_i32 s0, s0, 1
    s_cbranch_scc1 body
    s_endpgm)");
  EXPECT_EQ(loop.counts.instructions, 4);
  EXPECT_EQ(loop.address, 0x1018u);
}

TEST(MainLoop, TwoBranchesBackAreOneLoop) {
  const MainLoop loop = main_loop(R"(
  top:
    v_nop
    s_cbranch_scc1 top
    v_nop
    v_nop
    s_cbranch_scc0 top
    s_endpgm)");
  EXPECT_EQ(loop.counts.instructions, 5);
}

// The products repeat in the inner loop; the outer one holds more instructions and a peeled copy.
TEST(MainLoop, NestedTakesTheInnerLoopWithProducts) {
  const std::string text = std::string(R"(
  tile:
    v_mov_b32_e32 v0, 0
  slab:
    v_nop
  )") + repeat(4, kWmma) + R"(
    s_cbranch_scc1 slab
  )" + repeat(4, kWmma) + repeat(20, "v_add_f32_e32 v0, v0, v1\n") +
                           R"(
    s_cbranch_scc1 tile
    s_endpgm)";
  const MainLoop loop = main_loop(text);
  EXPECT_EQ(loop.counts.wmma, 4);
  EXPECT_EQ(loop.counts.valu, 1);
  const ControlFlow flow = find_control_flow(listing(text));
  ASSERT_EQ(flow.loops.size(), 2u);
  EXPECT_EQ(flow.loops[0].children, std::vector<size_t>{1});
  EXPECT_EQ(flow.loops[1].inner_to_outer, std::vector<size_t>{0});
}

// A small loop inside that only stages belongs to the loop of the products.
TEST(MainLoop, NestedStagingLoopIsPartOfTheLoopWithProducts) {
  const MainLoop loop = main_loop(std::string(R"(
  slab:
  stage:
    global_load_b64 v[0:1], v2, s[0:1]
    s_wait_loadcnt 0x0
    ds_store_b64 v3, v[0:1]
    s_cbranch_scc1 stage
  )") + repeat(8, kWmma) + R"(
    s_cbranch_scc1 slab
    s_endpgm)");
  EXPECT_EQ(loop.counts.wmma, 8);
  EXPECT_EQ(loop.counts.global, 1);
  EXPECT_EQ(loop.counts.lds, 1);
}

TEST(MainLoop, UnrolledAndItsRemainder) {
  const MainLoop loop =
      main_loop("top:\n" + repeat(4, std::string(kWmma) + "v_nop\n") +
                "s_cbranch_scc1 top\nrest:\n" + kWmma + "v_nop\ns_cbranch_scc1 rest\ns_endpgm");
  EXPECT_EQ(loop.counts.wmma, 4);
  EXPECT_EQ(loop.counts.valu, 4);
  EXPECT_EQ(loop.counts.instructions, 9);
  EXPECT_DOUBLE_EQ(loop.counts.wmma_share(), 100.0 * 32 / 36);
}

TEST(MainLoop, WithoutProductsTheLongestInnermost) {
  const MainLoop loop = main_loop(R"(
  outer:
    v_nop
    v_nop
    v_nop
    v_nop
  short:
    v_nop
    s_cbranch_scc1 short
  long:
    v_nop
    v_nop
    s_cbranch_scc1 long
    s_cbranch_scc1 outer
    s_endpgm)");
  EXPECT_EQ(loop.counts.instructions, 3);
}

// The part that runs on a condition is in the loop; what leaves the loop is not.
TEST(MainLoop, BranchesInsideAndOut) {
  const MainLoop loop = main_loop(R"(
  top:
    s_cbranch_execz skip
    v_add_f32_e32 v0, v0, v1
  skip:
    s_cbranch_scc0 found
    s_cbranch_scc1 top
    s_endpgm
  found:
    v_nop
    s_endpgm)");
  EXPECT_EQ(loop.counts.instructions, 4);
}

constexpr char kBarrier[] = "s_barrier_signal -1\ns_barrier_wait 0xffff\n";
constexpr char kLoad[] = "global_load_b64 v[0:1], v2, s[0:1]\n";
constexpr char kStore[] = "ds_store_b64 v3, v[0:1]\n";

MainLoop loop_of(const std::string& body) {
  return main_loop("top:\n" + body + "s_cbranch_scc1 top\ns_endpgm");
}

// What the seed found in its first kernels: each load waited for by itself.
TEST(RoundTrips, OneALoadWherePredicatesStandBetween) {
  const MainLoop loop = loop_of(repeat(3, std::string(kLoad) + "s_wait_loadcnt 0x0\n" + kStore) +
                                kBarrier + kWmma + kBarrier);
  EXPECT_EQ(loop.round_trips, 3);
  EXPECT_EQ(loop.full_load_waits, 3);
  EXPECT_EQ(loop.counts.full_waits, 3);
}

TEST(RoundTrips, OneForABatch) {
  const MainLoop loop =
      loop_of(repeat(3, kLoad) + "s_wait_loadcnt 0x0\n" + repeat(3, kStore) + kBarrier + kWmma);
  EXPECT_EQ(loop.round_trips, 1);
  EXPECT_EQ(loop.full_load_waits, 1);
}

TEST(RoundTrips, CountedWaitsOnOneBatchAreOne) {
  const MainLoop loop =
      loop_of(repeat(3, kLoad) + "s_wait_loadcnt 0x2\n" + kStore + "s_wait_loadcnt 0x1\n" + kStore +
              "s_wait_loadcnt 0x0\n" + kStore + kBarrier + kWmma);
  EXPECT_EQ(loop.round_trips, 1);
  EXPECT_EQ(loop.full_load_waits, 1);
}

TEST(RoundTrips, TwoBatchesAreTwo) {
  const MainLoop loop = loop_of(std::string(kLoad) + "s_wait_loadcnt 0x0\n" + kStore +
                                repeat(2, kLoad) + "s_wait_loadcnt 0x0\n" + kStore + kBarrier);
  EXPECT_EQ(loop.round_trips, 2);
}

// Loads for the next slab, waited for after the branch back.
TEST(RoundTrips, PrefetchAcrossTheBackEdgeIsOne) {
  const MainLoop loop = loop_of(std::string("s_wait_loadcnt 0x0\n") + kStore + kBarrier +
                                repeat(2, kLoad) + kWmma + kBarrier);
  EXPECT_EQ(loop.round_trips, 1);
}

// Two slabs ahead: a wait never stands for what was just issued.
TEST(RoundTrips, TwoSlabsAheadIsOne) {
  const MainLoop loop =
      loop_of(repeat(2, kLoad) + "s_wait_loadcnt 0x2\n" + kStore + kBarrier + kWmma + kBarrier);
  EXPECT_EQ(loop.round_trips, 1);
  EXPECT_EQ(loop.full_load_waits, 0);
}

TEST(RoundTrips, ABarrierParts) {
  const MainLoop loop = loop_of(std::string(kLoad) + "s_wait_loadcnt 0x0\n" + kBarrier + kLoad +
                                "s_wait_loadcnt 0x0\n" + kBarrier);
  EXPECT_EQ(loop.round_trips, 1);
  EXPECT_EQ(loop.counts.full_waits, 2);
}

// From the last barrier round the back edge to the first.
TEST(RoundTrips, TheStretchGoesRoundTheLoop) {
  const MainLoop loop = loop_of(std::string(kLoad) + "s_wait_loadcnt 0x0\n" + kBarrier + kLoad +
                                "s_wait_loadcnt 0x0\n");
  EXPECT_EQ(loop.round_trips, 2);
}

TEST(RoundTrips, WithoutABarrierOfAnIteration) {
  const MainLoop loop = loop_of(repeat(2, std::string(kLoad) + "s_wait_loadcnt 0x0\n"));
  EXPECT_EQ(loop.round_trips, 2);
}

TEST(RoundTrips, StoresAreNotWaitedForByLoadcnt) {
  const MainLoop loop =
      loop_of("global_store_b32 v0, v1, s[0:1]\ns_wait_loadcnt 0x0\ns_wait_storecnt 0x0\n");
  EXPECT_EQ(loop.round_trips, 0);
  EXPECT_EQ(loop.counts.full_waits, 2);
  EXPECT_EQ(loop.full_load_waits, 1);
}

}  // namespace
}  // namespace radiance::census
