#include "numerics/code_table.hpp"

#include <gtest/gtest.h>

namespace radiance {
namespace {

TEST(CodeTable, EveryCodeIsExact) {
  for (int c = 0; c < 16; ++c) {
    EXPECT_EQ(e4m3_to_f32(kInt4CodeTable.byte[c]), static_cast<float>(c - 8));
    EXPECT_EQ(e4m3_to_f32(kE2m1CodeTable.byte[c]), e2m1_to_f32(static_cast<u8>(c)));
  }
}

TEST(CodeTable, WordsAreLittleEndian) {
  for (int c = 0; c < 16; ++c) {
    EXPECT_EQ((kInt4CodeTable.word(c / 4) >> (8 * (c % 4))) & 0xff, kInt4CodeTable.byte[c]);
  }
}

}  // namespace
}  // namespace radiance
