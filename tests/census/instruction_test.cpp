#include "census/instruction.hpp"

#include <gtest/gtest.h>

#include "census/counts.hpp"

namespace radiance::census {
namespace {

Instruction parse(const std::string& text) { return parse_instruction({0x2000, 8, text}); }

TEST(Instruction, Classes) {
  EXPECT_EQ(parse("v_wmma_f32_16x16x16_fp8_fp8 v[0:7], v[8:9], v[10:11], v[0:7]").kind,
            Class::kWmma);
  EXPECT_EQ(parse("v_swmmac_f32_16x16x32_fp8_fp8 v[0:7], v[8:9], v[10:13], v14").kind,
            Class::kWmma);
  EXPECT_EQ(parse("v_dual_mov_b32 v3, 0 :: v_dual_lshlrev_b32 v0, 2, v0").kind, Class::kVopd);
  EXPECT_EQ(parse("v_perm_b32 v0, v1, v2, v3").kind, Class::kValu);
  EXPECT_EQ(parse("v_readfirstlane_b32 s0, v2").kind, Class::kValu);
  EXPECT_EQ(parse("s_add_co_i32 s2, s2, -1").kind, Class::kSalu);
  EXPECT_EQ(parse("s_and_saveexec_b32 s2, vcc_lo").kind, Class::kSalu);
  EXPECT_EQ(parse("s_load_b64 s[0:1], s[0:1], 0x0").kind, Class::kSmem);
  EXPECT_EQ(parse("s_prefetch_data s[0:1], 0x0, null, 0").kind, Class::kSmem);
  EXPECT_EQ(parse("ds_load_b128 v[0:3], v4").kind, Class::kLds);
  EXPECT_EQ(parse("global_load_b64 v[0:1], v2, s[0:1]").kind, Class::kGlobal);
  EXPECT_EQ(parse("flat_load_b32 v0, v[2:3]").kind, Class::kGlobal);
  EXPECT_EQ(parse("buffer_load_b32 v0, v1, s[0:3], null offen").kind, Class::kGlobal);
  EXPECT_EQ(parse("scratch_store_b32 off, v0, s0").kind, Class::kScratch);
  EXPECT_EQ(parse("s_wait_kmcnt 0x0").kind, Class::kWait);
  EXPECT_EQ(parse("s_wait_alu depctr_sa_sdst(0)").kind, Class::kWait);
  EXPECT_EQ(parse("s_barrier_signal -1").kind, Class::kBarrier);
  EXPECT_EQ(parse("s_delay_alu instid0(VALU_DEP_2)").kind, Class::kControl);
  EXPECT_EQ(parse("s_setprio 1").kind, Class::kControl);
  EXPECT_EQ(parse("s_endpgm").kind, Class::kBranch);
}

TEST(Instruction, BranchesCountWordsFromTheNextInstruction) {
  const Instruction back = parse("s_cbranch_scc0 65494");  // -42
  EXPECT_EQ(back.flow, Flow::kConditionalBranch);
  EXPECT_EQ(back.target, 0x2008u - 42 * 4);
  EXPECT_EQ(parse("s_cbranch_vccnz -42").target, 0x2008u - 42 * 4);
  EXPECT_EQ(parse("s_branch 0x10").target, 0x2048u);
  EXPECT_EQ(parse("s_branch 3").flow, Flow::kBranch);
  EXPECT_EQ(parse("s_endpgm").flow, Flow::kEnd);
  EXPECT_EQ(parse("s_setpc_b64 s[30:31]").flow, Flow::kEnd);
  EXPECT_EQ(parse("v_nop").flow, Flow::kNext);
}

TEST(Instruction, BytesOfAccesses) {
  const auto loads = [](const std::string& text) { return parse(text).access.load_bytes; };
  const auto stores = [](const std::string& text) { return parse(text).access.store_bytes; };
  EXPECT_EQ(loads("ds_load_b128 v[0:3], v4"), 16u);
  EXPECT_EQ(loads("ds_load_2addr_b64 v[0:3], v4 offset1:2"), 16u);
  EXPECT_EQ(loads("ds_load_2addr_stride64_b32 v[0:1], v4 offset1:2"), 8u);
  EXPECT_EQ(loads("ds_load_u16_d16_hi v0, v4"), 2u);
  EXPECT_EQ(stores("ds_store_b8 v2, v5"), 1u);
  EXPECT_EQ(loads("ds_store_b8 v2, v5"), 0u);
  EXPECT_EQ(loads("ds_bpermute_b32 v0, v1, v2"), 0u);
  EXPECT_EQ(loads("global_load_d16_hi_b16 v0, v1, s[2:3]"), 2u);
  EXPECT_EQ(loads("global_load_d16_u8 v0, v1, s[2:3]"), 1u);
  EXPECT_EQ(loads("global_load_tr_b64 v[0:1], v1, s[2:3]"), 8u);
  EXPECT_EQ(stores("global_store_d16_hi_b16 v0, v1, s[2:3]"), 2u);
  EXPECT_EQ(stores("global_store_b96 v[0:1], v[2:4], off"), 12u);
  EXPECT_EQ(loads("global_atomic_add_u32 v0, v1, v2, s[0:1] th:TH_ATOMIC_RETURN"), 4u);
  EXPECT_EQ(loads("s_load_b64 s[0:1], s[0:1], 0x0"), 0u);
}

TEST(Instruction, WhatLoadcntCounts) {
  EXPECT_TRUE(parse("global_load_b32 v0, v1, s[2:3]").access.counts_as_load);
  EXPECT_TRUE(parse("scratch_load_b32 v0, off, s0").access.counts_as_load);
  EXPECT_TRUE(
      parse("global_atomic_add_u32 v0, v1, v2, s[0:1] th:TH_ATOMIC_RETURN").access.counts_as_load);
  EXPECT_FALSE(parse("global_atomic_add_u32 v1, v2, s[0:1]").access.counts_as_load);
  EXPECT_FALSE(parse("global_store_b32 v0, v1, s[2:3]").access.counts_as_load);
  EXPECT_FALSE(parse("ds_load_b32 v0, v1").access.counts_as_load);
}

TEST(Instruction, FormOfTheAddress) {
  EXPECT_TRUE(parse("global_load_b64 v[0:1], v2, s[0:1] offset:16").access.scalar_base);
  EXPECT_TRUE(parse("global_store_b32 v3, v5, s[0:1]").access.scalar_base);
  EXPECT_FALSE(parse("global_load_b64 v[0:1], v[2:3], off offset:16").access.scalar_base);
  EXPECT_FALSE(parse("scratch_load_b32 v0, off, s0").access.scalar_base);
}

TEST(Instruction, Waits) {
  EXPECT_EQ(parse("s_wait_loadcnt 0x3").loads_left, 3u);
  EXPECT_FALSE(parse("s_wait_loadcnt 0x3").full_wait);
  EXPECT_TRUE(parse("s_wait_loadcnt 0x0").full_wait);
  EXPECT_TRUE(parse("s_wait_storecnt 0x0").full_wait);
  EXPECT_FALSE(parse("s_wait_storecnt 0x0").loads_left.has_value());
  EXPECT_TRUE(parse("s_wait_idle").full_wait);
  // loadcnt in bits 13..8, dscnt in bits 5..0.
  EXPECT_EQ(parse("s_wait_loadcnt_dscnt 0x203").loads_left, 2u);
  EXPECT_FALSE(parse("s_wait_loadcnt_dscnt 0x203").full_wait);
  EXPECT_TRUE(parse("s_wait_loadcnt_dscnt 0x3").full_wait);
  for (const char* text : {"s_wait_dscnt 0x0", "s_wait_kmcnt 0x0", "s_wait_alu 0xfffe"}) {
    EXPECT_FALSE(parse(text).full_wait) << text;
    EXPECT_FALSE(parse(text).loads_left.has_value()) << text;
  }
}

TEST(Counts, NamesEveryClass) {
  Counts counts;
  for (const char* text :
       {"v_wmma_f32_16x16x16_fp8_fp8 v[0:7], v[8:9], v[10:11], v[0:7]", "v_perm_b32 v0, v1, v2, v3",
        "v_add_co_ci_u32_e64 v6, null, s1, 0, s3", "v_lshlrev_b64_e32 v[0:1], 3, v[0:1]",
        "v_dual_mov_b32 v3, 0 :: v_dual_mov_b32 v0, 0", "s_and_saveexec_b32 s2, vcc_lo",
        "global_load_b128 v[0:3], v4, s[0:1]", "global_store_b32 v[0:1], v2, off",
        "ds_load_2addr_b64 v[0:3], v4", "s_wait_loadcnt 0x0", "s_barrier_wait 0xffff", "s_nop 0"}) {
    counts.add(parse(text));
  }
  const std::map<std::string, int> classes = counts.by_class();
  EXPECT_EQ(counts.instructions, 12);
  for (const char* name :
       {"wmma", "v_perm", "address_pair", "shift64", "vopd", "salu", "s_and_saveexec",
        "global_load_b128", "global_store_b32", "global_load_scalar_base",
        "global_store_vector_base", "lds_load", "wait", "full_wait", "barrier", "control"}) {
    EXPECT_EQ(classes.at(name), 1) << name;
  }
  EXPECT_EQ(classes.at("valu"), 3);
  EXPECT_EQ(counts.lds_bytes, 32 * 16);
  EXPECT_EQ(counts.global_load_bytes, 32 * 16);
  EXPECT_EQ(counts.global_store_bytes, 32 * 4);
  EXPECT_EQ(counts.pipe_clocks(), 8 + 3 + 1);
  EXPECT_DOUBLE_EQ(counts.wmma_share(), 100.0 * 8 / 12);
}

}  // namespace
}  // namespace radiance::census
