#include "emulator/touched_lines.hpp"

#include <gtest/gtest.h>

#include <random>
#include <set>

namespace radiance::emulator {
namespace {

TEST(TouchedLines, CountsEachOnce) {
  std::mt19937_64 rng(5);
  TouchedLines a, b;
  std::set<uint64_t> due;
  for (int i = 0; i < 20000; ++i) {
    const uint64_t line = (rng() % 4) * 100000000 + rng() % 3000;
    (i % 2 ? a : b).add(line);
    due.insert(line);
  }
  a.add(b);
  EXPECT_EQ(a.count(), due.size());
  a.add(b);
  EXPECT_EQ(a.count(), due.size());
}

TEST(TouchedLines, EmptyIsZero) { EXPECT_EQ(TouchedLines().count(), 0u); }

}  // namespace
}  // namespace radiance::emulator
