// From LLVM's text to operands and modifiers.
#include "emulator/decode.hpp"

#include <gtest/gtest.h>

#include <random>
#include <set>

#include "disasm/disassembler.hpp"
#include "emulator/handlers.hpp"
#include "emulator/registers.hpp"

namespace radiance::emulator {
namespace {

class Decode : public testing::Test {
 protected:
  Instruction decode(const char* text) {
    Instruction in;
    in.text = text;
    decode_text(text, in, pool_, halves_);
    return in;
  }
  ConstantPool pool_;
  std::deque<Instruction> halves_;
};

TEST_F(Decode, Registers) {
  const Instruction in = decode("v_mad_co_u64_u32 v[4:5], null, s3, vcc_hi, v[8:9]");
  ASSERT_NE(in.opcode, nullptr);
  EXPECT_TRUE(in.dst[0].is_vgpr());
  EXPECT_EQ(in.dst[0].index, 4);
  EXPECT_EQ(in.dst[0].registers, 2);
  EXPECT_EQ(in.dst[1].index, kSink);
  EXPECT_EQ(in.src[0].index, 3);
  EXPECT_EQ(in.src[1].index, kVccHi);
  EXPECT_EQ(in.src[2].index, 8);
  EXPECT_EQ(in.src[2].registers, 2);
  EXPECT_EQ(decode("s_mov_b32 s0, ttmp9").src[0].index, kTtmp0 + 9);
  EXPECT_EQ(decode("s_mov_b64 s[0:1], src_shared_base").src[0].index, kSharedBase);
}

TEST_F(Decode, ConstantsInTheTypeOfTheirOpcode) {
  EXPECT_EQ(decode("v_add_f32_e32 v0, 1.0, v1").src[0].value, 0x3f800000u);
  EXPECT_EQ(decode("v_add_f16_e32 v0.l, -1.0, v1.h").src[0].value, 0xbc00u);
  EXPECT_EQ(decode("v_add_f64_e64 v[0:1], 2.0, v[2:3]").src[0].value, 0x4000000000000000u);
  EXPECT_EQ(decode("v_add_f64_e64 v[0:1], 0x40040000, v[2:3]").src[0].value, 0x4004000000000000u);
  EXPECT_EQ(decode("v_add_f64_e64 v[0:1], 3, v[2:3]").src[0].value, 3u);
  EXPECT_EQ(decode("s_and_b64 s[0:1], s[2:3], -4").src[1].value, ~uint64_t{3});
  EXPECT_EQ(decode("s_or_b64 s[0:1], s[2:3], 0x80000000").src[1].value, 0x80000000u);
  EXPECT_EQ(decode("v_mov_b32_e32 v0, lit(0x0)").src[0].value, 0u);
  EXPECT_EQ(decode("v_mul_f32_e32 v0, 0.15915494, v1").src[0].value, 0x3e22f983u);
  const Operand constant = decode("v_lshlrev_b64_e64 v[0:1], 4, -2").src[1];
  EXPECT_EQ(constant.lanes[0].v[31], 0xfffffffeu);
  EXPECT_EQ(constant.lanes[1].v[31], 0xffffffffu);
}

TEST_F(Decode, SourceModifiersAndHalves) {
  const Instruction in = decode("v_add_f16_e64 v2.h, -|v0.l|, |v1.h| clamp mul:4");
  EXPECT_TRUE(in.dst[0].high);
  EXPECT_TRUE(in.src[0].negate && in.src[0].absolute && !in.src[0].high);
  EXPECT_TRUE(!in.src[1].negate && in.src[1].absolute && in.src[1].high);
  EXPECT_TRUE(in.mod.clamp);
  EXPECT_EQ(in.mod.output_scale, 2);
}

TEST_F(Decode, MemoryModifiers) {
  const Instruction load = decode("global_load_b64 v[2:3], v4, s[6:7] offset:-16 scope:SCOPE_SYS");
  EXPECT_EQ(load.mod.offset, -16);
  EXPECT_EQ(load.mod.scope, Scope::kSystem);
  EXPECT_EQ(load.destinations, 1);
  const Instruction plain = decode("global_atomic_add_u32 v4, v5, s[6:7]");
  EXPECT_EQ(plain.destinations, 0);
  const Instruction returns =
      decode("global_atomic_add_u32 v3, v4, v5, s[6:7] th:TH_ATOMIC_RETURN");
  EXPECT_EQ(returns.destinations, 1);
  EXPECT_EQ(returns.dst[0].index, 3);
  const Instruction two = decode("ds_load_2addr_b32 v[2:3], v10 offset0:2 offset1:5");
  EXPECT_EQ(two.mod.offset0, 2);
  EXPECT_EQ(two.mod.offset1, 5);
}

TEST_F(Decode, Immediates) {
  EXPECT_EQ(decode("s_wait_loadcnt 0x3").immediate, 3u);
  EXPECT_EQ(decode("s_wait_loadcnt_dscnt 0x102").immediate, 0x102u);
  EXPECT_EQ(decode("s_getreg_b32 s0, hwreg(HW_REG_WAVE_MODE, 4, 2)").immediate,
            1u | 4u << 6 | 1u << 11);
  EXPECT_EQ(decode("s_setreg_b32 hwreg(HW_REG_WAVE_MODE), s1").src[0].index, 1);
  EXPECT_NE(decode("s_delay_alu instid0(VALU_DEP_1) | instskip(NEXT) | instid1(VALU_DEP_1)").opcode,
            nullptr);
}

TEST_F(Decode, DualInstructionsHaveTwoHalves) {
  const Instruction in =
      decode("v_dual_cndmask_b32 v0, v1, v2 :: v_dual_fmaak_f32 v3, v4, v5, 0x40");
  ASSERT_NE(in.second, nullptr);
  EXPECT_EQ(in.first->src[2].index, kVccLo);
  EXPECT_EQ(in.second->src[2].value, 0x40u);
}

TEST_F(Decode, WhatIsNotKnownHasNoOpcode) {
  for (const char* text : {"v_frobnicate_b32 v0, v1", "v_add_f32 v0, v1, v2 frobnicate:1",
                           "v_add_f32 v0, v1, x7", "v_add_f32", "v_add_f32 s[0:900], v1, v2",
                           "v_add_f32 1, v1, v2", "", "v_dual_mov_b32 v0, v1 :: nothing"}) {
    EXPECT_EQ(decode(text).opcode, nullptr) << text;
    EXPECT_NE(decode(text).execute, nullptr) << text;
  }
}

TEST(Opcodes, EveryMnemonicBelongsToOneFamily) {
  std::set<std::string_view> seen;
  for (const Family& family : families()) {
    for (const Opcode& opcode : family.opcodes) {
      EXPECT_TRUE(seen.insert(opcode.mnemonic).second) << opcode.mnemonic;
      EXPECT_NE(opcode.execute, nullptr) << opcode.mnemonic;
      EXPECT_EQ(find_opcode(opcode.mnemonic), &opcode) << opcode.mnemonic;
    }
  }
  EXPECT_EQ(find_opcode("v_add_f33"), nullptr);
}

// Whatever bytes there are, decoding them ends in an instruction or in none.
TEST(Opcodes, RandomBytesDecode) {
  disasm::Disassembler disassembler;
  ConstantPool pool;
  std::deque<Instruction> halves;
  std::mt19937 random(3);
  int known = 0;
  for (int round = 0; round < 20000; ++round) {
    uint8_t bytes[16];
    for (uint8_t& byte : bytes) byte = static_cast<uint8_t>(random());
    const auto line = disassembler.decode(bytes, 0);
    if (!line) continue;
    Instruction in;
    in.text = line->text.c_str();
    decode_text(line->text, in, pool, halves);
    ASSERT_NE(in.execute, nullptr);
    known += in.opcode != nullptr;
  }
  EXPECT_GT(known, 5000);
}

}  // namespace
}  // namespace radiance::emulator
