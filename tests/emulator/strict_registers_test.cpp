// Each strict check of registers, waits and barriers: a kernel that trips it, and a twin that does
// right.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "tests/emulator/kernel_runner.hpp"

namespace radiance::emulator::testing {
namespace {

using ::testing::HasSubstr;

// s[4:5] is a buffer of zeros, its address waited for.
constexpr const char* kProlog = R"(s_load_b64 s[4:5], s[0:1], 0x0
v_and_b32 v0, 0x3ff, v0
s_wait_kmcnt 0x0
)";

std::string run_body(const std::string& body, bool strict, uint32_t items) {
  return run_on<uint32_t>({kProlog + body, 1024}, std::vector<uint32_t>(256), items, strict)
      .result.error;
}

std::string strict(const std::string& body, uint32_t items = 32) {
  return run_body(body, true, items);
}

// Trips in strict mode with these words, and runs without.
void expect_trips(const std::string& body, const std::string& words, uint32_t items = 32) {
  EXPECT_THAT(strict(body, items), HasSubstr(words)) << body;
  EXPECT_EQ(run_body(body, false, items), "") << body;
}

void expect_clean(const std::string& body, uint32_t items = 32) {
  EXPECT_EQ(strict(body, items), "") << body;
}

// --- Never written
// -----------------------------------------------------------------------------------

TEST(StrictRegisters, VgprNeverWritten) {
  expect_trips("v_add_f32 v2, v5, v0", "reads v5, which lane 0 has never written");
  expect_clean("v_mov_b32 v5, 1.0\nv_add_f32 v2, v5, v0");
}

TEST(StrictRegisters, SgprNeverWritten) {
  expect_trips("s_add_co_u32 s10, s20, s4", "reads s20, which has never been written");
  expect_clean("s_mov_b32 s20, 1\ns_add_co_u32 s10, s20, s4");
}

TEST(StrictRegisters, SccNeverWritten) {
  expect_trips("s_cselect_b32 s10, 1, 0", "reads scc");
  expect_clean("s_cmp_eq_u32 s4, s4\ns_cselect_b32 s10, 1, 0");
}

TEST(StrictRegisters, VccNeverWritten) {
  expect_trips("v_cndmask_b32 v2, v0, v0, vcc_lo", "reads vcc_lo");
  expect_clean("v_cmp_eq_u32 vcc_lo, v0, v0\nv_cndmask_b32 v2, v0, v0, vcc_lo");
}

TEST(StrictRegisters, LanesThatWereInactiveWhenItWasWritten) {
  const std::string partial = "s_mov_b32 s8, exec_lo\ns_mov_b32 exec_lo, 0xff\nv_mov_b32 v5, 7\n";
  expect_trips(partial + "s_mov_b32 exec_lo, s8\nv_add_nc_u32 v2, v5, v0",
               "reads v5, which lane 8 has never written");
  expect_clean(partial + "v_add_nc_u32 v2, v5, v0");
}

TEST(StrictRegisters, MovesCarryWhatIsUndefined) {
  expect_clean("v_mov_b32 v6, v5\ns_mov_b32 s10, s20");
  expect_trips("v_mov_b32 v6, v5\nv_not_b32 v7, v6", "reads v6");
  expect_trips("s_mov_b32 s10, s20\ns_not_b32 s11, s10", "reads s10");
  expect_trips("v_readfirstlane_b32 s10, v5\ns_not_b32 s11, s10", "reads s10");
}

TEST(StrictRegisters, AMaskOfInactiveLanesMayBeUndefined) {
  expect_clean("s_and_not1_b32 s10, s20, exec_lo\ns_or_b32 s10, s10, 1");
  expect_trips("s_and_not1_b32 s10, s20, s4", "reads s20");
  expect_trips("s_and_not1_b32 s10, s4, s20", "reads s20");
}

TEST(StrictRegisters, AMultiplyAddMayHaveHalfAnAddend) {
  const std::string multiply = "v_mad_co_u64_u32 v[6:7], null, s4, v0, v[0:1]\n";
  expect_clean(multiply + "v_not_b32 v8, v6");
  expect_trips(multiply + "v_not_b32 v8, v7", "reads v7");
  expect_trips("v_mad_co_u64_u32 v[6:7], null, s4, v0, v[20:21]", "reads v20");
}

TEST(StrictRegisters, ASelectNeedsOnlyTheSideItTakes) {
  const std::string lanes = "v_cmp_gt_u32 vcc_lo, 32, v0\n";
  expect_clean(lanes + "v_cndmask_b32 v2, v5, v0, vcc_lo\nv_not_b32 v3, v2");
  expect_trips(lanes + "v_cndmask_b32 v2, v0, v5, vcc_lo\nv_not_b32 v3, v2", "reads v2");
}

TEST(StrictRegisters, BothHalvesOfADual) {
  expect_trips("v_dual_mov_b32 v2, v0 :: v_dual_add_f32 v3, v5, v0", "reads v5");
  expect_clean("v_mov_b32 v1, 0\nv_dual_mov_b32 v2, v0 :: v_dual_add_f32 v3, v1, v0");
}

TEST(StrictRegisters, DppReadsOtherLanes) {
  const std::string quad =
      "s_mov_b32 s8, exec_lo\ns_mov_b32 exec_lo, 0xf\nv_mov_b32 v5, 7\n"
      "s_mov_b32 exec_lo, s8\n";
  expect_clean(quad +
               "v_mov_b32 v6, 0\ns_mov_b32 exec_lo, 1\n"
               "v_add_nc_u32_dpp v6, v5, v0 quad_perm:[0,0,0,0] row_mask:0xf bank_mask:0xf");
  expect_trips(quad +
                   "v_mov_b32 v6, 0\n"
                   "v_add_nc_u32_dpp v6, v5, v0 row_shl:4 row_mask:0xf bank_mask:0xf",
               "reads v5");
}

TEST(StrictRegisters, WritelaneWritesOneLane) {
  const std::string one = "v_writelane_b32 v5, s4, 3\n";
  expect_clean(one + "v_readlane_b32 s8, v5, 3\ns_not_b32 s9, s8");
  expect_trips(one + "v_readlane_b32 s8, v5, 2\ns_not_b32 s9, s8", "reads s8");
}

// --- Not waited for
// ------------------------------------------------------------------------------------

TEST(StrictWaits, ScalarLoad) {
  const std::string load = "s_load_b64 s[8:9], s[4:5], 0x0\n";
  expect_trips(load + "s_add_co_u32 s10, s8, s4",
               "reads s8 while the result of \"s_load_b64 s[8:9], s[4:5], 0x0\"");
  expect_clean(load + "s_wait_kmcnt 0x0\ns_add_co_u32 s10, s8, s4");
}

TEST(StrictWaits, ScalarLoadsReturnInAnyOrder) {
  const std::string loads = "s_load_b32 s8, s[4:5], 0x0\ns_load_b32 s9, s[4:5], 0x4\n";
  expect_trips(loads + "s_wait_kmcnt 0x1\ns_not_b32 s10, s8", "has not been waited for (kmcnt)");
  expect_clean(loads + "s_wait_kmcnt 0x0\ns_not_b32 s10, s8");
}

TEST(StrictWaits, GlobalLoadsReturnInOrder) {
  const std::string loads =
      "v_mov_b32 v1, 0\nglobal_load_b32 v2, v1, s[4:5]\nglobal_load_b32 v3, v1, s[4:5] offset:4\n";
  expect_trips(loads + "v_not_b32 v4, v2", "has not been waited for (loadcnt)");
  expect_trips(loads + "s_wait_loadcnt 0x1\nv_not_b32 v4, v3", "reads v3");
  expect_clean(loads +
               "s_wait_loadcnt 0x1\nv_not_b32 v4, v2\ns_wait_loadcnt 0x0\nv_not_b32 v4, v3");
}

TEST(StrictWaits, LdsLoad) {
  const std::string load =
      "v_mov_b32 v1, 0\nv_mov_b32 v3, 0\nds_store_b32 v1, v3\n"
      "ds_load_b32 v2, v1\n";
  expect_trips(load + "s_wait_loadcnt 0x0\nv_not_b32 v4, v2", "has not been waited for (dscnt)");
  expect_clean(load + "s_wait_dscnt 0x0\nv_not_b32 v4, v2");
  expect_clean(load + "s_wait_loadcnt_dscnt 0x3f00\nv_not_b32 v4, v2");
  expect_clean(load + "s_wait_idle\nv_not_b32 v4, v2");
}

TEST(StrictWaits, OverwritingWhatIsStillToArrive) {
  const std::string load = "v_mov_b32 v1, 0\nglobal_load_b32 v2, v1, s[4:5]\n";
  expect_trips(load + "v_mov_b32 v2, 0", "overwrites v2 while the result");
  expect_clean(load + "s_wait_loadcnt 0x0\nv_mov_b32 v2, 0");
  expect_trips("s_load_b32 s8, s[4:5], 0x0\ns_mov_b32 s8, 0", "overwrites s8 while the result");
}

TEST(StrictWaits, AMoveWaitsToo) {
  expect_trips("v_mov_b32 v1, 0\nglobal_load_b32 v2, v1, s[4:5]\nv_mov_b32 v3, v2",
               "v2 while the result");
}

// --- Scalar loads' addresses
// ---------------------------------------------------------------------------

TEST(StrictWaits, ScalarLoadOutOfBounds) {
  EXPECT_THAT(strict("s_load_b32 s8, s[4:5], 0x400"),
              HasSubstr("0 bytes past the end of allocation"));
  EXPECT_THAT(run_body("s_load_b32 s8, s[4:5], 0x400", false, 32), HasSubstr("a scalar load of 4"));
  expect_clean("s_load_b32 s8, s[4:5], 0x3fc");
}

TEST(StrictWaits, ScalarLoadMisaligned) {
  expect_trips("s_load_b32 s8, s[4:5], 0x2", "not aligned to 4 bytes");
}

// --- Barriers
// ------------------------------------------------------------------------------------------

constexpr const char* kBarrier = "s_barrier_signal -1\ns_barrier_wait -1\n";

TEST(StrictBarriers, EveryWaveMustTakePart) {
  // Wave 1 leaves early.
  const std::string early = "v_cmp_gt_u32 vcc_lo, 32, v0\ns_cbranch_vccnz 1\ns_endpgm\n";
  expect_trips(early + kBarrier, "ends without taking part in barrier 1", 64);
  expect_clean(std::string(kBarrier) + early, 64);
}

TEST(StrictBarriers, AWaitNeedsASignal) {
  expect_trips("s_barrier_wait -1", "without an s_barrier_signal", 64);
  expect_clean(kBarrier, 64);
}

TEST(StrictBarriers, TwoSignalsWithoutAWait) {
  EXPECT_THAT(strict(std::string("s_barrier_signal -1\n") + kBarrier),
              HasSubstr("twice without waiting"));
  expect_clean(std::string(kBarrier) + kBarrier);
}

TEST(StrictBarriers, ASignalMustBeWaitedFor) {
  expect_trips("s_barrier_signal -1", "did not wait for it");
}

// --- Everywhere
// ----------------------------------------------------------------------------------------

TEST(Faults, AnEndlessLoopRunsOutOfItsBudget) {
  EXPECT_THAT(run_body("s_branch 0xffff", false, 32),
              HasSubstr("an endless loop: 1000000 instructions"));
  EXPECT_EQ(
      run_body("s_movk_i32 s8, 0x100\ns_sub_co_u32 s8, s8, 1\ns_cbranch_scc0 0xfffe", false, 32),
      "");
}

TEST(Faults, AnUnknownOpcodeIsNamed) {
  const std::string body = "v_mqsad_u32_u8 v[4:7], v[0:1], v2, v[8:11]";
  const std::string error = run_body(body, false, 32);
  EXPECT_THAT(error, HasSubstr("the instruction \"" + body + "\" is not implemented"));
  EXPECT_THAT(error, HasSubstr("kernel kernel, 0x"));
}

TEST(Faults, BytesThatAreNoInstruction) {
  EXPECT_THAT(run_body(".long 0xffffffff", false, 32),
              HasSubstr("are no instruction of this target"));
}

TEST(Faults, ATrapStops) { EXPECT_THAT(run_body("s_trap 2", false, 32), HasSubstr("s_trap 2")); }

TEST(Faults, CodeThatRunsPastItsEnd) {
  EXPECT_THAT(run_body("s_branch 1", false, 32), HasSubstr("past its end"));
}

TEST(Faults, ABranchToNowhere) {
  EXPECT_THAT(run_body("s_mov_b64 s[8:9], 0x40\ns_setpc_b64 s[8:9]", false, 32),
              HasSubstr("a branch to 0x40, where no instruction begins"));
}

}  // namespace
}  // namespace radiance::emulator::testing
