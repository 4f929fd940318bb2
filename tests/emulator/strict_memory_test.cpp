// Each strict check of memory: a kernel that trips it, and a twin that does right.
#include <gtest/gtest.h>

#include <string>

#include "tests/emulator/kernel_runner.hpp"

namespace radiance::emulator::testing {
namespace {

// s[4:5] is the buffer; v0 the work item, v1 four times it, v2 sixteen times it.
constexpr const char* kProlog = R"(s_load_b64 s[4:5], s[0:1], 0x0
v_and_b32 v0, 0x3ff, v0
v_lshlrev_b32 v1, 2, v0
v_lshlrev_b32 v2, 4, v0
s_wait_kmcnt 0x0
)";

std::string strict(const std::string& body, unsigned lds_bytes = 4096, uint32_t items = 64,
                   size_t buffer_dwords = 256) {
  return run_on<uint32_t>({kProlog + body, lds_bytes}, std::vector<uint32_t>(buffer_dwords), items,
                          true)
      .result.error;
}

constexpr const char* kBarrier = "s_barrier_signal -1\ns_barrier_wait -1\n";

// --- Global memory
// -----------------------------------------------------------------------------------

TEST(StrictMemory, GlobalOutOfBounds) {
  const std::string load = "global_load_b32 v4, v1, s[4:5]";
  EXPECT_EQ(strict(load + " offset:768"), "");
  const std::string error = strict(load + " offset:772");
  EXPECT_NE(error.find("lane 31 loads 4 bytes at 0x"), std::string::npos) << error;
  EXPECT_NE(error.find("0 bytes past the end of allocation"), std::string::npos) << error;
  EXPECT_NE(error.find("kernel kernel, 0x"), std::string::npos) << error;
  EXPECT_NE(error.find("wave 1"), std::string::npos) << error;
  const std::string before = strict(load + " offset:-4");
  EXPECT_NE(before.find("lane 0 loads 4 bytes"), std::string::npos) << before;
  EXPECT_NE(before.find("bytes before allocation"), std::string::npos) << before;
}

TEST(StrictMemory, GlobalStoreHalfOutside) {
  const std::string body =
      "v_mov_b32 v4, 0\nv_mov_b32 v5, 0\nv_lshlrev_b32 v3, 3, v0\n"
      "global_store_b64 v3, v[4:5], s[4:5] offset:";
  EXPECT_EQ(strict(body + "512"), "");
  const std::string error = strict(body + "516");
  EXPECT_NE(error.find("lane 31 stores 8 bytes"), std::string::npos) << error;
}

TEST(StrictMemory, InactiveLanesMayPointAnywhere) {
  EXPECT_EQ(strict("v_cmp_gt_u32 vcc_lo, 8, v0\ns_and_b32 exec_lo, exec_lo, vcc_lo\n"
                   "global_load_b32 v4, v1, s[4:5] offset:992"),
            "");
}

TEST(StrictMemory, UseAfterFree) {
  for (bool freed : {false, true}) {
    Memory memory;
    void* buffer = memory.allocate(1024);
    void* gone = memory.allocate(1024);
    if (freed) memory.free(gone);
    LaunchOptions options;
    options.strict = true;
    void* const arguments[] = {gone, buffer};
    const LaunchResult result =
        run(memory, {std::string(kProlog) + "global_load_b32 v4, v1, s[4:5]"}, arguments, {1, 1, 1},
            {32, 1, 1}, options);
    if (freed) {
      EXPECT_EQ(result.status, LaunchStatus::kFault);
      EXPECT_NE(result.error.find("which was freed"), std::string::npos) << result.error;
    } else {
      EXPECT_EQ(result.error, "");
    }
  }
}

TEST(StrictMemory, GlobalMisaligned) {
  EXPECT_EQ(strict("global_load_b64 v[4:5], v2, s[4:5] offset:4", 0, 32), "");
  const std::string error = strict("global_load_b32 v4, v1, s[4:5] offset:2", 0, 32);
  EXPECT_NE(error.find("misaligned access: lane 0 loads 4 bytes"), std::string::npos) << error;
  EXPECT_EQ(strict("global_load_u16 v4, v1, s[4:5] offset:2", 0, 32), "");
  EXPECT_NE(strict("global_load_u16 v4, v1, s[4:5] offset:1", 0, 32), "");
}

// --- LDS
// ---------------------------------------------------------------------------------------------

TEST(StrictMemory, LdsOutOfBounds) {
  const std::string store = "ds_store_b32 v1, v0 offset:";
  EXPECT_EQ(strict(store + "3840"), "");
  const std::string error = strict(store + "3844");
  EXPECT_NE(
      error.find("lane 31 stores 4 bytes at 0x1000 of LDS, of which the workgroup has 4096 bytes"),
      std::string::npos)
      << error;
  EXPECT_NE(strict("ds_store_b32 v1, v0", 0), "");
}

TEST(StrictMemory, LdsMisaligned) {
  const std::string store = "v_mov_b32 v4, 0\nv_mov_b32 v5, 0\nds_store_b64 v2, v[4:5] offset:";
  EXPECT_EQ(strict(store + "8"), "");
  const std::string error = strict(store + "4");
  EXPECT_NE(error.find("misaligned access: lane 0 stores 8 bytes at 0x4 of LDS"), std::string::npos)
      << error;
}

TEST(StrictMemory, LdsNeverWritten) {
  const std::string store = "ds_store_b32 v1, v0\ns_wait_dscnt 0x0\n";
  EXPECT_EQ(strict(store + "ds_load_b32 v4, v1"), "");
  const std::string error = strict(store + "ds_load_b32 v4, v1 offset:4");
  EXPECT_NE(error.find("lane 31 reads byte 0x80 of LDS, which no wave has written"),
            std::string::npos)
      << error;
  // Bytes, too: three of four are there.
  const std::string bytes = "ds_store_b8 v1, v0\nds_store_b16 v1, v0 offset:2\ns_wait_dscnt 0x0\n";
  EXPECT_EQ(strict(bytes + "ds_load_u16 v4, v1 offset:2"), "");
  EXPECT_NE(strict(bytes + "ds_load_b32 v4, v1").find("byte 0x1 of LDS"), std::string::npos);
}

// Wave 0 writes what wave 1 reads and the other way round.
std::string exchange_through_lds(const std::string& between) {
  return strict("ds_store_b32 v1, v0\n" + between +
                "v_xor_b32 v3, 0x80, v1\nds_load_b32 v4, v3\ns_wait_dscnt 0x0\n");
}

TEST(StrictMemory, LdsReadAfterWriteRace) {
  EXPECT_EQ(exchange_through_lds(std::string("s_wait_dscnt 0x0\n") + kBarrier), "");
  // No barrier: the second wave finds the first one's data, or nothing.
  EXPECT_NE(exchange_through_lds("s_wait_dscnt 0x0\n"), "");
  // A barrier, but the store was not waited for before it.
  const std::string error = exchange_through_lds(std::string(kBarrier) + "s_wait_dscnt 0x0\n");
  EXPECT_NE(error.find("race in LDS: lane 0 of wave"), std::string::npos) << error;
  EXPECT_NE(error.find("reads byte"), std::string::npos) << error;
}

TEST(StrictMemory, LdsWriteAfterReadRace) {
  const auto kernel = [](const std::string& between) {
    return std::string("ds_store_b32 v1, v0\ns_wait_dscnt 0x0\n") + kBarrier +
           "v_xor_b32 v3, 0x80, v1\nds_load_b32 v4, v3\n" + between +
           "ds_store_b32 v1, v0\ns_wait_dscnt 0x0\n";
  };
  EXPECT_EQ(strict(kernel(std::string("s_wait_dscnt 0x0\n") + kBarrier)), "");
  const std::string error = strict(kernel("s_wait_dscnt 0x0\n"));
  EXPECT_NE(error.find("race in LDS"), std::string::npos) << error;
  // The loads are outstanding while the barrier is passed.
  EXPECT_NE(strict(kernel(kBarrier)).find("race in LDS"), std::string::npos);
}

TEST(StrictMemory, LdsWriteWriteRace) {
  const auto kernel = [](const std::string& between) {
    return "ds_store_b32 v1, v0\n" + between + "v_xor_b32 v3, 0x80, v1\nds_store_b32 v3, v0\n";
  };
  EXPECT_EQ(strict(kernel(std::string("s_wait_dscnt 0x0\n") + kBarrier)), "");
  EXPECT_NE(strict(kernel("s_wait_dscnt 0x0\n")).find("race in LDS"), std::string::npos);
}

TEST(StrictMemory, LdsBytesOfOneDwordDoNotRace) {
  // Each wave stores its own half of every dword.
  const std::string own =
      "v_and_b32 v3, 31, v0\nv_lshlrev_b32 v3, 2, v3\nv_lshrrev_b32 v4, 5, v0\n"
      "v_lshl_add_u32 v3, v4, 1, v3\n";
  EXPECT_EQ(strict(own + "ds_store_b16 v3, v0\ns_wait_dscnt 0x0\nds_load_u16 v5, v3"), "");
  EXPECT_NE(strict(own + "ds_store_b16 v3, v0\ns_wait_dscnt 0x0\nv_xor_b32 v3, 2, v3\n"
                         "ds_store_b16 v3, v0"),
            "");
}

TEST(StrictMemory, LdsAtomicsDoNotRaceWithEachOther) {
  const std::string zero =
      "v_mov_b32 v4, 0\nv_mov_b32 v5, 0\nv_cmp_eq_u32 vcc_lo, 0, v0\n"
      "s_and_saveexec_b32 s8, vcc_lo\nds_store_b32 v4, v5\n"
      "s_mov_b32 exec_lo, s8\ns_wait_dscnt 0x0\n";
  const std::string add = "ds_add_u32 v4, v0\ns_wait_dscnt 0x0\n";
  EXPECT_EQ(strict(zero + kBarrier + add), "");
  const std::string error = strict(zero + kBarrier + add + "ds_load_b32 v6, v4");
  EXPECT_NE(error.find("race in LDS"), std::string::npos) << error;
  EXPECT_EQ(strict(zero + kBarrier + add + kBarrier + "ds_load_b32 v6, v4"), "");
}

// --- Races on global memory
// --------------------------------------------------------------------------

TEST(StrictMemory, GlobalRaces) {
  const auto kernel = [](const std::string& between) {
    return "global_store_b32 v1, v0, s[4:5]\n" + between +
           "v_xor_b32 v3, 0x80, v1\nglobal_load_b32 v4, v3, s[4:5]\ns_wait_loadcnt 0x0\n";
  };
  EXPECT_EQ(strict(kernel(std::string("s_wait_storecnt 0x0\n") + kBarrier)), "");
  const std::string error = strict(kernel("s_wait_storecnt 0x0\n"));
  EXPECT_NE(error.find("race in global memory: lane 0 of wave 1"), std::string::npos) << error;
  EXPECT_NE(strict(kernel(kBarrier)).find("race in global memory"), std::string::npos);
}

TEST(StrictMemory, GlobalWriteAfterReadRace) {
  const auto kernel = [](const std::string& between) {
    return "v_xor_b32 v3, 0x80, v1\nglobal_load_b32 v4, v3, s[4:5]\n" + between +
           "global_store_b32 v1, v0, s[4:5]\n";
  };
  EXPECT_EQ(strict(kernel(std::string("s_wait_loadcnt 0x0\n") + kBarrier)), "");
  EXPECT_NE(strict(kernel("s_wait_loadcnt 0x0\n")).find("race in global memory"),
            std::string::npos);
}

TEST(StrictMemory, GlobalSmallReadsRaceToo) {
  const auto kernel = [](const std::string& between) {
    return "v_xor_b32 v3, 0x82, v1\nglobal_load_u16 v4, v3, s[4:5]\n" + between +
           "global_store_b32 v1, v0, s[4:5]\n";
  };
  EXPECT_EQ(strict(kernel(std::string("s_wait_loadcnt 0x0\n") + kBarrier)), "");
  EXPECT_NE(strict(kernel(kBarrier)).find("race in global memory"), std::string::npos);
}

// Both waves read wave 1's line, whole, and wait; then one of its dwords, for which they do not
// wait. Wave 1 may overwrite all of it but that dword.
TEST(StrictMemory, AReadOfPartOfALineIsNotOneOfAllOfIt) {
  const auto kernel = [](const char* last) {
    return std::string(
               "v_or_b32 v3, 0x80, v1\nglobal_load_b32 v4, v3, s[4:5]\n"
               "s_wait_loadcnt 0x0\nv_mov_b32 v3, 0xfc\nglobal_load_b32 v5, v3, s[4:5]\n") +
           kBarrier + "v_cmp_lt_u32 vcc_lo, 31, v0\nv_cmp_gt_u32 s20, " + last +
           ", v0\ns_and_b32 exec_lo, vcc_lo, s20\n"
           "global_store_b32 v1, v0, s[4:5]\ns_mov_b32 exec_lo, -1\ns_wait_loadcnt 0x0\n";
  };
  EXPECT_EQ(strict(kernel("63")), "") << "all but the last dword";
  EXPECT_NE(strict(kernel("64")).find("race in global memory"), std::string::npos);
}

TEST(StrictMemory, GlobalHalvesOfOneDwordDoNotRace) {
  const std::string own =
      "v_and_b32 v3, 31, v0\nv_lshlrev_b32 v3, 2, v3\nv_lshrrev_b32 v4, 5, v0\n"
      "v_lshl_add_u32 v3, v4, 1, v3\n";
  EXPECT_EQ(strict(own + "global_store_b16 v3, v0, s[4:5]"), "");
  EXPECT_NE(strict("v_and_b32 v3, 31, v0\nv_lshlrev_b32 v3, 2, v3\nglobal_store_b16 v3, v0, s[4:5]")
                .find("has written"),
            std::string::npos);
}

TEST(StrictMemory, OtherWorkgroupsAreNotWatched) {
  // Two workgroups of one wave store the same places.
  const auto result = run_on<uint32_t>({std::string(kProlog) + "global_store_b32 v1, v0, s[4:5]"},
                                       std::vector<uint32_t>(64), 32, true, 2);
  EXPECT_EQ(result.result.error, "");
}

// --- Outstanding results
// -----------------------------------------------------------------------------

TEST(StrictMemory, ResultsMustBeWaitedFor) {
  struct Case {
    const char* issue;
    const char* wait;
    const char* use;
  };
  const Case cases[] = {
      {"global_load_b32 v4, v1, s[4:5]", "s_wait_loadcnt 0x0", "v_mov_b32 v5, v4"},
      {"global_load_b128 v[4:7], v2, s[4:5]", "s_wait_loadcnt 0x0", "v_add_nc_u32 v5, v7, v0"},
      {"ds_store_b32 v1, v0\nds_load_b32 v4, v1", "s_wait_dscnt 0x0", "v_add_nc_u32 v5, v4, v0"},
      {"ds_bpermute_b32 v4, v1, v0", "s_wait_dscnt 0x0", "v_add_nc_u32 v5, v4, v0"},
      {"ds_store_b32 v1, v0\nds_add_rtn_u32 v4, v1, v0", "s_wait_dscnt 0x0",
       "v_add_nc_u32 v5, v4, v0"},
      {"global_atomic_add_u32 v4, v1, v0, s[4:5] th:TH_ATOMIC_RETURN", "s_wait_loadcnt 0x0",
       "v_add_nc_u32 v5, v4, v0"},
      // As data and as address of the next access, and overwritten before it arrives.
      {"global_load_b32 v4, v1, s[4:5]", "s_wait_loadcnt 0x0", "ds_store_b32 v1, v4"},
      {"global_load_b32 v4, v1, s[4:5]", "s_wait_loadcnt 0x0", "global_load_b32 v5, v4, s[4:5]"},
      {"global_load_b32 v4, v1, s[4:5]", "s_wait_loadcnt 0x0", "v_mov_b32 v4, 0"},
      {"global_load_b32 v4, v1, s[4:5]", "s_wait_loadcnt 0x0", "ds_bpermute_b32 v4, v1, v0"},
  };
  for (const Case& c : cases) {
    const std::string issue = c.issue, use = c.use;
    EXPECT_EQ(strict(issue + "\n" + c.wait + "\n" + use), "") << issue;
    const std::string error = strict(issue + "\n" + use);
    EXPECT_NE(error.find("has not been waited for"), std::string::npos) << issue << ": " << error;
  }
}

TEST(StrictMemory, TheWrongCounterProvesNothing) {
  const std::string load = "global_load_b32 v4, v1, s[4:5]\n";
  EXPECT_NE(strict(load + "s_wait_dscnt 0x0\ns_wait_storecnt 0x0\nv_mov_b32 v5, v4"), "");
  // In order: all but the last one are there.
  const std::string two = load + "global_load_b32 v5, v1, s[4:5]\ns_wait_loadcnt 0x1\n";
  EXPECT_EQ(strict(two + "v_mov_b32 v6, v4"), "");
  EXPECT_NE(strict(two + "v_mov_b32 v6, v5"), "");
}

TEST(StrictMemory, BothHalvesOfARegisterMayBeOutstanding) {
  EXPECT_EQ(strict("v_mov_b32 v4, 0\nglobal_load_d16_b16 v4, v1, s[4:5]\n"
                   "global_load_d16_hi_b16 v4, v1, s[4:5] offset:2\ns_wait_loadcnt 0x0\n"
                   "v_mov_b32 v5, v4"),
            "");
}

TEST(StrictMemory, ScratchIsBounded) {
  const auto scratch = [](const std::string& offset) {
    KernelSource source{std::string(kProlog) + "scratch_store_b32 off, v0, off offset:" + offset};
    source.scratch_bytes = 64;
    return run_on<uint32_t>(source, std::vector<uint32_t>(64), 32, true).result.error;
  };
  EXPECT_EQ(scratch("60"), "");
  const std::string error = scratch("64");
  EXPECT_NE(error.find("lane 0 stores 4 bytes at 0x40 of scratch, of which a lane has 64 bytes"),
            std::string::npos)
      << error;
}

TEST(StrictMemory, MemoryOperandsMustBeWritten) {
  EXPECT_NE(strict("global_store_b32 v1, v9, s[4:5]").find("has never written"), std::string::npos);
  EXPECT_NE(strict("ds_load_b32 v4, v9").find("has never written"), std::string::npos);
  EXPECT_NE(strict("global_load_b32 v4, v1, s[10:11]").find("has never been written"),
            std::string::npos);
}

}  // namespace
}  // namespace radiance::emulator::testing
