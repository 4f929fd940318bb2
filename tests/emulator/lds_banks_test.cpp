#include "emulator/lds_banks.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <random>
#include <set>

namespace radiance::emulator {
namespace {

template <class Function>
Lanes addresses(Function function) {
  Lanes out;
  for (int i = 0; i < kLanes; ++i) out[i] = static_cast<uint32_t>(function(i));
  return out;
}

TEST(LdsBanks, ConsecutiveAccessesDoNotConflict) {
  for (int bytes : {1, 2, 4, 8, 12, 16}) {
    const Lanes at = addresses([&](int i) { return bytes * i; });
    EXPECT_EQ(lds_conflict_cycles(at, kAllLanes, bytes), 0u) << bytes;
  }
}

TEST(LdsBanks, LanesShareADword) {
  for (int bytes : {1, 4, 8, 16}) {
    EXPECT_EQ(lds_conflict_cycles(addresses([](int) { return 64; }), kAllLanes, bytes), 0u);
  }
}

TEST(LdsBanks, RowsAtAnOddMultipleOfTheWidthDoNotConflict) {
  for (int bytes : {4, 8, 16}) {
    for (int odd : {1, 3, 5, 9, 33}) {
      const Lanes at = addresses([&](int i) { return bytes * odd * i; });
      EXPECT_EQ(lds_conflict_cycles(at, kAllLanes, bytes), 0u) << bytes << " * " << odd;
    }
  }
}

TEST(LdsBanks, PowersOfTwoConflict) {
  // All 32 lanes in one bank: 32 clocks in place of 1.
  EXPECT_EQ(lds_conflict_cycles(addresses([](int i) { return 128 * i; }), kAllLanes, 4), 31u);
  EXPECT_EQ(lds_conflict_cycles(addresses([](int i) { return 8 * i; }), kAllLanes, 4), 1u);
  // Four groups of 8 lanes, each with all lanes in the same four banks.
  EXPECT_EQ(lds_conflict_cycles(addresses([](int i) { return 128 * i; }), kAllLanes, 16), 28u);
  EXPECT_EQ(lds_conflict_cycles(addresses([](int i) { return 32 * i; }), kAllLanes, 16), 4u);
  EXPECT_EQ(lds_conflict_cycles(addresses([](int i) { return 128 * i; }), kAllLanes, 8), 30u);
}

TEST(LdsBanks, InactiveLanesDoNotCount) {
  const Lanes at = addresses([](int i) { return 128 * i; });
  EXPECT_EQ(lds_conflict_cycles(at, 0, 4), 0u);
  EXPECT_EQ(lds_conflict_cycles(at, 1u << 7, 4), 0u);
  EXPECT_EQ(lds_conflict_cycles(at, 0xfu, 4), 3u);
  EXPECT_EQ(lds_conflict_cycles(at, 0x01010101u, 16), 0u);  // one lane a group
}

// Against the definition, on random addresses.
TEST(LdsBanks, MatchesTheDefinition) {
  std::mt19937 rng(11);
  for (int trial = 0; trial < 2000; ++trial) {
    const int bytes = std::array{1, 2, 4, 8, 12, 16}[static_cast<size_t>(trial % 6)];
    const uint32_t range = trial % 2 ? 512 : 8192;
    const auto unit = static_cast<uint32_t>(trial % 7 ? std::min(bytes, 4) : 1);
    const Lanes at = addresses([&](int) { return rng() % range / unit * unit; });
    const uint32_t active = trial % 3 ? kAllLanes : static_cast<uint32_t>(rng());
    const int group = bytes <= 4 ? 32 : bytes == 8 ? 16 : 8;
    uint32_t due = 0;
    for (int first = 0; first < kLanes; first += group) {
      std::set<uint32_t> banks[kLdsBanks];
      size_t busiest = 1;
      for (int i = first; i < first + group; ++i) {
        if (!(active >> i & 1)) continue;
        for (int b = 0; b < bytes; ++b) {
          const uint32_t dword = (at[i] + static_cast<uint32_t>(b)) / 4;
          banks[dword % kLdsBanks].insert(dword);
          busiest = std::max(busiest, banks[dword % kLdsBanks].size());
        }
      }
      due += static_cast<uint32_t>(busiest - 1);
    }
    EXPECT_EQ(lds_conflict_cycles(at, active, bytes), due) << "trial " << trial;
  }
}

}  // namespace
}  // namespace radiance::emulator
