#include "numerics/int4.hpp"

#include <gtest/gtest.h>

#include <random>

namespace radiance {
namespace {

TEST(Int4, InsertThenReadEveryPosition) {
  std::mt19937 rng(7);
  for (int i = 0; i < 10000; ++i) {
    const u32 word = static_cast<u32>(rng());
    const int at = static_cast<int>(rng() % 8);
    const u32 code = rng() % 16;
    const u32 out = int4_insert(word, at, code);
    for (int j = 0; j < 8; ++j) EXPECT_EQ(int4_code(out, j), j == at ? code : int4_code(word, j));
  }
}

TEST(Int4, LowestKIsTheLowestNibble) {
  EXPECT_EQ(int4_code(0x76543210u, 0), 0u);
  EXPECT_EQ(int4_code(0x76543210u, 5), 5u);
  EXPECT_EQ(int4_value(0), -8);
  EXPECT_EQ(int4_value(15), 7);
}

TEST(Int4, AwqOrderIsAPermutation) {
  bool seen[8] = {};
  for (int f = 0; f < 8; ++f) {
    EXPECT_EQ(kAwqOrder[awq_nibble(f)], f);
    seen[awq_nibble(f)] = true;
  }
  for (bool s : seen) EXPECT_TRUE(s);
}

}  // namespace
}  // namespace radiance
