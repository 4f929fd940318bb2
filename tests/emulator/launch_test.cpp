// The state a kernel starts in, what launches refuse, and that the order of execution changes
// nothing.
#include "emulator/emulator.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cstring>
#include <numeric>

#include "tests/emulator/kernel_runner.hpp"

namespace radiance::emulator::testing {
namespace {

using ::testing::HasSubstr;

constexpr Dim3 kGrid = {3, 2, 2};
constexpr Dim3 kBlock = {5, 4, 3};
constexpr uint32_t kItems = 5 * 4 * 3;

// Stores, at its place in the whole grid, each work item's packed ids and its workgroup's.
constexpr const char* kWriteIds = R"(s_load_b64 s[4:5], s[0:1], 0x0
v_and_b32 v1, 0x3ff, v0
v_bfe_u32 v2, v0, 10, 10
v_bfe_u32 v3, v0, 20, 10
v_mad_u32_u24 v2, v3, 4, v2
v_mad_u32_u24 v1, v2, 5, v1
s_and_b32 s6, ttmp7, 0xffff
s_lshr_b32 s7, ttmp7, 16
s_mul_i32 s8, s7, 2
s_add_co_u32 s8, s8, s6
s_mul_i32 s8, s8, 3
s_add_co_u32 s8, s8, ttmp9
s_mul_i32 s8, s8, 60
v_add_nc_u32 v1, s8, v1
v_lshlrev_b32 v1, 3, v1
s_lshl_b32 s9, s7, 20
s_lshl_b32 s10, s6, 10
s_or_b32 s9, s9, s10
s_or_b32 s9, s9, ttmp9
v_mov_b32 v2, v0
v_mov_b32 v3, s9
s_wait_kmcnt 0x0
global_store_b64 v1, v[2:3], s[4:5]
)";

TEST(Launch, IdsOfWorkItemsAndWorkgroups) {
  for (const bool strict : {false, true}) {
    Memory memory;
    const size_t count = size_t{kItems} * 12 * 2;
    auto* out = static_cast<uint32_t*>(memory.allocate(count * 4));
    void* const arguments[] = {out};
    LaunchOptions options;
    options.strict = strict;
    options.threads = 2;
    const LaunchResult result = run(memory, {kWriteIds}, arguments, kGrid, kBlock, options);
    ASSERT_EQ(result.error, "");
    EXPECT_EQ(result.counters.workgroups, 12u);
    EXPECT_EQ(result.counters.waves, 24u);
    size_t at = 0;
    for (uint32_t group = 0; group < 12; ++group) {
      for (uint32_t item = 0; item < kItems; ++item, at += 2) {
        const uint32_t x = item % 5;
        const uint32_t y = item / 5 % 4;
        const uint32_t z = item / 20;
        ASSERT_EQ(out[at], x | y << 10 | z << 20) << "group " << group << " item " << item;
        ASSERT_EQ(out[at + 1], group % 3 | (group / 3 % 2) << 10 | (group / 6) << 20);
      }
    }
  }
}

// Fills in what the launch does not give: the last wave of a workgroup has 60 - 32 lanes.
TEST(Launch, TheLastWaveIsShort) {
  Memory memory;
  auto* out = static_cast<uint32_t*>(memory.allocate(8));
  const std::string body = R"(s_load_b64 s[4:5], s[0:1], 0x0
v_and_b32 v0, 0x3ff, v0
v_readfirstlane_b32 s6, v0
s_lshr_b32 s6, s6, 5
s_lshl_b32 s6, s6, 2
v_mov_b32 v1, s6
v_mov_b32 v2, exec_lo
s_wait_kmcnt 0x0
global_store_b32 v1, v2, s[4:5]
)";
  void* const arguments[] = {out};
  ASSERT_EQ(run(memory, {body}, arguments, {1, 1, 1}, {60, 1, 1}, {}).error, "");
  EXPECT_EQ(out[0], 0xffffffffu);
  EXPECT_EQ(out[1], (1u << 28) - 1);
}

// s_getpc, a call through a register and a return; a call with an immediate.
TEST(Launch, CallsAndReturns) {
  Memory memory;
  auto* out = static_cast<uint32_t*>(memory.allocate(4));
  const std::string body = R"(s_load_b64 s[4:5], s[0:1], 0x0
s_mov_b32 s6, 1
s_getpc_b64 s[8:9]
Lhere:
s_add_co_u32 s8, s8, Lfunction-Lhere
s_add_co_ci_u32 s9, s9, 0
s_swappc_b64 s[30:31], s[8:9]
s_call_b64 s[30:31], Lfunction
v_mov_b32 v1, 0
v_mov_b32 v2, s6
s_wait_kmcnt 0x0
global_store_b32 v1, v2, s[4:5]
s_endpgm
Lfunction:
s_lshl_b32 s6, s6, 3
s_setpc_b64 s[30:31]
)";
  void* const arguments[] = {out};
  ASSERT_EQ(run(memory, {body}, arguments, {1, 1, 1}, {1, 1, 1}, {}).error, "");
  EXPECT_EQ(out[0], 64u);
}

class Refusals : public ::testing::Test {
 protected:
  LaunchResult try_launch(Dim3 grid, Dim3 block, uint32_t lds, size_t kernarg_bytes) {
    KernelSource source;
    source.body = "s_nop 0";
    source.lds_bytes = 1024;
    const std::vector<uint8_t> object = assemble(source);
    const Module module(memory_, object);
    const disasm::Kernel* kernel = module.find_kernel("kernel");
    EXPECT_EQ(module.find_kernel("other"), nullptr);
    const std::vector<uint8_t> kernarg(kernarg_bytes);
    return launch(memory_, module, *kernel, grid, block, lds, kernarg, {});
  }
  void expect_refused(Dim3 grid, Dim3 block, uint32_t lds, const std::string& words) {
    const LaunchResult result = try_launch(grid, block, lds, 64);
    EXPECT_EQ(result.status, LaunchStatus::kBadConfiguration);
    EXPECT_THAT(result.error, HasSubstr(words));
  }
  Memory memory_;
};

TEST_F(Refusals, SayWhatIsWrong) {
  EXPECT_TRUE(try_launch({1, 1, 1}, {1, 1, 1}, 0, 64).ok());
  expect_refused({0, 1, 1}, {1, 1, 1}, 0, "an empty grid: 0 x 1 x 1 workgroups");
  expect_refused({1, 1, 1}, {1, 0, 1}, 0, "of 1 x 0 x 1");
  expect_refused({1, 70000, 1}, {1, 1, 1}, 0, "70000 workgroups along axis 1");
  expect_refused({1, 1, 1}, {32, 33, 1}, 0, "has 1056 work items a workgroup");
  expect_refused({1, 1, 1}, {1, 1, 1}, 64 * 1024,
                 "needs 66560 bytes of LDS; a workgroup has 65536");
  EXPECT_TRUE(try_launch({1, 1, 1}, {1, 1, 1}, 63 * 1024, 64).ok());
}

// An omitted instruction is a no-op for that launch alone.
TEST(Launch, OmittingAnInstruction) {
  Memory memory;
  auto* out = static_cast<uint32_t*>(memory.allocate(4));
  const std::vector<uint8_t> object = assemble({R"(s_load_b64 s[4:5], s[0:1], 0x0
v_mov_b32 v1, 0
v_mov_b32 v2, 5
v_add_nc_u32 v2, 0x100, v2
s_wait_kmcnt 0x0
global_store_b32 v1, v2, s[4:5]
)"});
  const Module module(memory, object);
  const auto run_without = [&](std::optional<uint64_t> offset) {
    std::vector<uint8_t> kernarg(64);
    std::memcpy(kernarg.data(), &out, sizeof out);
    LaunchOptions options;
    options.strict = true;
    if (offset) options.omit = Omission{"kernel", *offset};
    return launch(memory, module, *module.find_kernel("kernel"), {1, 1, 1}, {1, 1, 1}, 0, kernarg,
                  options);
  };
  EXPECT_EQ(run_without(16).error, "");
  EXPECT_EQ(*out, 5u);
  EXPECT_EQ(run_without(std::nullopt).error, "");
  EXPECT_EQ(*out, 0x105u);
  EXPECT_THAT(run_without(24).error, HasSubstr("has not been waited for (kmcnt)"));
  EXPECT_THAT(run_without(20).error, HasSubstr("no instruction at offset 0x14"));
  EXPECT_THAT(run_without(4096).error, HasSubstr("no instruction at offset"));
}

// Waves hand a token around through LDS, with barriers between; whatever the order, the result is
// one.
TEST(Launch, OrderOfExecutionDoesNotMatter) {
  const std::string body = R"(s_load_b64 s[4:5], s[0:1], 0x0
v_and_b32 v0, 0x3ff, v0
v_lshlrev_b32 v1, 2, v0
s_mul_i32 s6, ttmp9, 0x200
v_add_nc_u32 v2, s6, v1
v_xor_b32 v3, 0x1fc, v1
v_add_nc_u32 v4, ttmp9, v0
s_movk_i32 s7, 0x10
ds_store_b32 v1, v4
Lloop:
s_wait_dscnt 0x0
s_barrier_signal -1
s_barrier_wait -1
ds_load_b32 v5, v3
s_wait_dscnt 0x0
s_barrier_signal -1
s_barrier_wait -1
v_mad_u32_u24 v5, v5, 5, v0
ds_store_b32 v1, v5
s_sub_co_u32 s7, s7, 1
s_cmp_lg_u32 s7, 0
s_cbranch_scc1 Lloop
s_wait_kmcnt 0x0
global_store_b32 v2, v5, s[4:5]
)";
  KernelSource source;
  source.body = body;
  source.lds_bytes = 512;
  std::vector<std::vector<uint32_t>> results;
  for (int seed = -1; seed < 8; ++seed) {
    Memory memory;
    auto* out = static_cast<uint32_t*>(memory.allocate(16 * 512));
    void* const arguments[] = {out};
    LaunchOptions options;
    options.strict = true;
    options.threads = 1 + static_cast<unsigned>(seed + 1) % 3;
    if (seed >= 0) options.seed = static_cast<uint64_t>(seed);
    const LaunchResult result = run(memory, source, arguments, {16, 1, 1}, {128, 1, 1}, options);
    ASSERT_EQ(result.error, "");
    EXPECT_EQ(result.counters.barriers, 16u * 4 * 32);
    results.emplace_back(out, out + 16 * 128);
  }
  for (const auto& result : results) EXPECT_EQ(result, results.front());
}

// With a seed, waves really are switched between barriers: the order of appends shows it.
TEST(Launch, ASeedInterleavesWaves) {
  const std::string body = R"(s_load_b64 s[4:5], s[0:1], 0x0
v_and_b32 v0, 0x3ff, v0
v_lshrrev_b32 v4, 5, v0
s_mov_b32 exec_lo, 1
s_movk_i32 s7, 0x20
v_mov_b32 v1, 0
v_mov_b32 v2, 4
s_wait_kmcnt 0x0
Lloop:
global_atomic_add_u32 v3, v1, v2, s[4:5] th:TH_ATOMIC_RETURN
s_wait_loadcnt 0x0
global_store_b32 v3, v4, s[4:5] offset:4
s_sub_co_u32 s7, s7, 1
s_cmp_lg_u32 s7, 0
s_cbranch_scc1 Lloop
)";
  const auto order = [&](std::optional<uint64_t> seed) {
    Memory memory;
    auto* out = static_cast<uint32_t*>(memory.allocate(4 + 4 * 4 * 32));
    std::memset(out, 0, 4 + 4 * 4 * 32);
    void* const arguments[] = {out};
    LaunchOptions options;
    options.seed = seed;
    EXPECT_EQ(run(memory, {body}, arguments, {1, 1, 1}, {128, 1, 1}, options).error, "");
    EXPECT_EQ(out[0], 4u * 4 * 32);
    return std::vector<uint32_t>(out + 1, out + 1 + 4 * 32);
  };
  const auto in_order = order(std::nullopt);
  EXPECT_TRUE(std::ranges::is_sorted(in_order));
  EXPECT_FALSE(std::ranges::is_sorted(order(1)));
  EXPECT_EQ(order(1), order(1));
  EXPECT_NE(order(1), order(2));
}

}  // namespace
}  // namespace radiance::emulator::testing
