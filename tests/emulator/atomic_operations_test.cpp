#include "emulator/atomic_operations.hpp"

#include <gtest/gtest.h>

#include <limits>
#include <thread>
#include <vector>

#include "emulator/memory_atomic.hpp"

namespace radiance::emulator {
namespace {

using namespace atomics;

TEST(AtomicOperations, Integers) {
  EXPECT_EQ(Add::apply(~0u, 2u, 0u), 1u);
  EXPECT_EQ(Subtract::apply(1u, 2u, 0u), ~0u);
  EXPECT_EQ(ReverseSubtract::apply(1u, 5u, 0u), 4u);
  EXPECT_EQ(SubtractClamped::apply(1u, 2u, 0u), 0u);
  EXPECT_EQ(SubtractClamped::apply(5u, 2u, 0u), 3u);
  EXPECT_EQ(SubtractIfGreaterEqual::apply(1u, 2u, 0u), 1u);
  EXPECT_EQ(SubtractIfGreaterEqual::apply(2u, 2u, 0u), 0u);
  EXPECT_EQ(MinSigned::apply(5u, ~0u, 0u), ~0u);
  EXPECT_EQ(MinUnsigned::apply(5u, ~0u, 0u), 5u);
  EXPECT_EQ(MaxSigned::apply(5u, ~0u, 0u), 5u);
  EXPECT_EQ(MaxUnsigned::apply(5u, ~0u, 0u), ~0u);
  EXPECT_EQ(MaxSigned::apply(uint64_t{5}, ~uint64_t{0}, uint64_t{0}), 5u);
}

TEST(AtomicOperations, CountersWrap) {
  EXPECT_EQ(Increment::apply(3u, 4u, 0u), 4u);
  EXPECT_EQ(Increment::apply(4u, 4u, 0u), 0u);
  EXPECT_EQ(Increment::apply(9u, 4u, 0u), 0u);
  EXPECT_EQ(Decrement::apply(3u, 4u, 0u), 2u);
  EXPECT_EQ(Decrement::apply(0u, 4u, 0u), 4u);
  EXPECT_EQ(Decrement::apply(9u, 4u, 0u), 4u);
}

TEST(AtomicOperations, Exchanges) {
  EXPECT_EQ(CompareExchange::apply(7u, 1u, 7u), 1u);
  EXPECT_EQ(CompareExchange::apply(8u, 1u, 7u), 8u);
  EXPECT_EQ(MaskedOr::apply(0xffu, 0x0fu, 0x05u), 0xf5u);
  EXPECT_EQ(ConditionalExchange32::apply(0x11111111'22222222u, 0x80000003'00000004u, 0),
            0x00000003'22222222u);
}

uint32_t bits(float x) { return std::bit_cast<uint32_t>(x); }

TEST(AtomicOperations, Floats) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  EXPECT_EQ(AddFloat::apply(bits(1.5f), bits(2.25f), 0u), bits(3.75f));
  EXPECT_EQ(MinNumber::apply(bits(nan), bits(2.0f), 0u), bits(2.0f));
  EXPECT_EQ(MinNumber::apply(bits(2.0f), bits(nan), 0u), bits(2.0f));
  EXPECT_EQ(MaxNumber::apply(bits(-1.0f), bits(nan), 0u), bits(-1.0f));
  EXPECT_EQ(MinNumber::apply(bits(0.0f), bits(-0.0f), 0u), bits(-0.0f));
  EXPECT_EQ(MinNumber::apply(bits(-0.0f), bits(0.0f), 0u), bits(-0.0f));
  EXPECT_EQ(MaxNumber::apply(bits(-0.0f), bits(0.0f), 0u), bits(0.0f));
  EXPECT_EQ(MaxNumber::apply(bits(0.0f), bits(-0.0f), 0u), bits(0.0f));
  EXPECT_EQ(MinNumber::apply(bits(3.0f), bits(-4.0f), 0u), bits(-4.0f));
  EXPECT_EQ(AddPackedF16::apply(0x3c004000u, 0x3c003c00u, 0), 0x40004200u);
  EXPECT_EQ(AddPackedBf16::apply(0x3f804000u, 0x3f803f80u, 0), 0x40004040u);
}

// Sums from several host threads come out whole, and every old value is seen once.
TEST(AtomicOperations, ThreadsDoNotLoseUpdates) {
  alignas(8) uint32_t counter = 0;
  constexpr int kThreads = 4, kRounds = 2000;
  std::vector<std::vector<uint32_t>> seen(kThreads);
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&, t] {
      LaneAddresses at;
      Lanes one, old;
      for (int i = 0; i < kLanes; ++i) {
        at.at[i] = reinterpret_cast<uint64_t>(&counter);
        one[i] = 1;
      }
      for (int r = 0; r < kRounds; ++r) {
        update_lanes<Add, uint32_t>(at, kAllLanes, &one, &old);
        for (uint32_t v : old.v) seen[static_cast<size_t>(t)].push_back(v);
      }
    });
  }
  for (std::thread& t : threads) t.join();
  constexpr uint32_t kTotal = kThreads * kRounds * kLanes;
  EXPECT_EQ(counter, kTotal);
  std::vector<bool> was(kTotal);
  for (const auto& list : seen) {
    for (uint32_t v : list) {
      ASSERT_LT(v, kTotal);
      ASSERT_FALSE(was[v]);
      was[v] = true;
    }
  }
}

TEST(AtomicOperations, SixtyFourBitCompareExchangeTakesDataThenCompare) {
  alignas(8) uint64_t word = 0x1'0000'0002;
  LaneAddresses at;
  at.at[3] = reinterpret_cast<uint64_t>(&word);
  Lanes data[4] = {}, old[2] = {};
  data[0][3] = 7;
  data[1][3] = 8;
  data[2][3] = 2;  // compare value
  data[3][3] = 1;
  update_lanes<CompareExchange, uint64_t>(at, 1u << 3, data, old);
  EXPECT_EQ(word, 0x8'0000'0007u);
  EXPECT_EQ(old[0][3], 2u);
  EXPECT_EQ(old[1][3], 1u);
}

}  // namespace
}  // namespace radiance::emulator
