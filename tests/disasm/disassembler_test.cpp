#include "disasm/disassembler.hpp"

#include <gtest/gtest.h>

#include <array>

namespace radiance::disasm {
namespace {

TEST(Disassembler, TextAndSize) {
  Disassembler disassembler;
  const auto line = disassembler.decode(std::array<uint8_t, 4>{0x00, 0x03, 0x04, 0x62}, 0x100);
  ASSERT_TRUE(line);
  EXPECT_EQ(line->text, "v_max_num_f16_e32 v2.l, v0.l, v1.l");
  EXPECT_EQ(line->size, 4u);
  EXPECT_EQ(line->address, 0x100u);
}

TEST(Disassembler, ALiteralIsPartOfTheInstruction) {
  Disassembler disassembler;
  // s_mov_b32 s0, 0x40003c00, cut short and whole.
  const std::array<uint8_t, 8> bytes = {0xff, 0x00, 0x80, 0xbe, 0x00, 0x3c, 0x00, 0x40};
  const auto line = disassembler.decode(bytes, 0);
  ASSERT_TRUE(line);
  EXPECT_EQ(line->text, "s_mov_b32 s0, 0x40003c00");
  EXPECT_EQ(line->size, 8u);
  EXPECT_FALSE(disassembler.decode(std::span(bytes).first(4), 0));
}

TEST(Disassembler, NoInstruction) {
  Disassembler disassembler;
  EXPECT_FALSE(disassembler.decode(std::array<uint8_t, 4>{0xff, 0xff, 0xff, 0xff}, 0));
  EXPECT_FALSE(disassembler.decode({}, 0));
}

TEST(Disassembler, OtherProcessors) {
  Disassembler older("gfx1100");
  // s_waitcnt exists on gfx11 and not on gfx12.
  EXPECT_EQ(older.decode(std::array<uint8_t, 4>{0x00, 0x00, 0x89, 0xbf}, 0)->text,
            "s_waitcnt vmcnt(0) expcnt(0) lgkmcnt(0)");
}

}  // namespace
}  // namespace radiance::disasm
