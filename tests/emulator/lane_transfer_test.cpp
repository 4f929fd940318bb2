#include "emulator/lane_transfer.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <random>
#include <vector>

#include "emulator/memory_forms.hpp"

namespace radiance::emulator {
namespace {

constexpr uint32_t kMasks[] = {kAllLanes, 0, 1, 0x80000000u, 0x12345678u, 0xfffffffeu};

struct Arena {
  std::vector<uint8_t> bytes;
  LaneAddresses at;
  size_t offset[kLanes];

  explicit Arena(std::mt19937& rng) : bytes(4096) {
    for (uint8_t& b : bytes) b = static_cast<uint8_t>(rng());
    // Every lane its own 32 bytes, in a shuffled order, anywhere within them.
    std::vector<size_t> slot(kLanes);
    for (size_t i = 0; i < slot.size(); ++i) slot[i] = i;
    std::shuffle(slot.begin(), slot.end(), rng);
    for (int i = 0; i < kLanes; ++i) {
      offset[i] = 32 * slot[static_cast<size_t>(i)] + rng() % 16;
      at.at[i] = reinterpret_cast<uint64_t>(bytes.data() + offset[i]);
    }
  }
};

void randomize(Lanes* rows, int count, std::mt19937& rng) {
  for (int r = 0; r < count; ++r) {
    for (uint32_t& v : rows[r].v) v = static_cast<uint32_t>(rng());
  }
}

template <LaneForm F>
uint32_t expected_word(const Arena& arena, int lane, int r, uint32_t old) {
  const uint8_t* p = arena.bytes.data() + arena.offset[lane];
  if (F.bytes >= 4) {
    uint32_t word;
    std::memcpy(&word, p + 4 * r, 4);
    return word;
  }
  uint32_t value = F.bytes == 1 ? p[0] : p[0] | p[1] << 8;
  if (F.is_signed) {
    value = static_cast<uint32_t>(F.bytes == 1 ? static_cast<int8_t>(value)
                                               : static_cast<int16_t>(value));
  }
  if (F.part == RegisterPart::kLow) return (old & 0xffff0000u) | (value & 0xffffu);
  if (F.part == RegisterPart::kHigh) return (old & 0xffffu) | value << 16;
  return value;
}

template <LaneForm F>
void test_load() {
  std::mt19937 rng(F.bytes * 8 + static_cast<int>(F.part));
  for (uint32_t mask : kMasks) {
    const Arena arena(rng);
    Lanes rows[5];
    randomize(rows, 5, rng);
    Lanes before[5];
    std::memcpy(before, rows, sizeof rows);
    load_lanes<F>(rows, arena.at, mask);
    for (int i = 0; i < kLanes; ++i) {
      for (int r = 0; r < 5; ++r) {
        const bool loaded = (mask >> i & 1) && r < F.registers();
        EXPECT_EQ(rows[r][i], loaded ? expected_word<F>(arena, i, r, before[r][i]) : before[r][i])
            << "lane " << i << " register " << r << " of " << F.bytes << " bytes";
      }
    }
  }
}

template <LaneForm F>
void test_store() {
  std::mt19937 rng(F.bytes * 8 + static_cast<int>(F.part) + 1000);
  for (uint32_t mask : kMasks) {
    Arena arena(rng);
    Lanes rows[4];
    randomize(rows, 4, rng);
    std::vector<uint8_t> expected = arena.bytes;
    for (int i = 0; i < kLanes; ++i) {
      if (!(mask >> i & 1)) continue;
      for (int b = 0; b < F.bytes; ++b) {
        const int bit = 8 * (b % 4) + (F.part == RegisterPart::kHigh ? 16 : 0);
        expected[arena.offset[i] + static_cast<size_t>(b)] =
            static_cast<uint8_t>(rows[b / 4][i] >> bit);
      }
    }
    store_lanes<F>(rows, arena.at, mask);
    EXPECT_EQ(arena.bytes, expected) << F.bytes << " bytes, lanes " << mask;
  }
}

TEST(LaneTransfer, LoadsEveryFormUnderAnyMask) {
  using namespace forms;
  test_load<kU8>();
  test_load<kI8>();
  test_load<kU16>();
  test_load<kI16>();
  test_load<kU8Low>();
  test_load<kI8Low>();
  test_load<kU16Low>();
  test_load<kU8High>();
  test_load<kI8High>();
  test_load<kU16High>();
  test_load<kB32>();
  test_load<kB64>();
  test_load<kB96>();
  test_load<kB128>();
}

TEST(LaneTransfer, StoresEveryFormUnderAnyMask) {
  using namespace forms;
  test_store<kU8>();
  test_store<kU16>();
  test_store<kU8High>();
  test_store<kU16High>();
  test_store<kB32>();
  test_store<kB64>();
  test_store<kB96>();
  test_store<kB128>();
}

TEST(LaneTransfer, TheHighestLaneWinsAnAddress) {
  uint32_t word = 0;
  LaneAddresses at;
  Lanes value;
  for (int i = 0; i < kLanes; ++i) {
    at.at[i] = reinterpret_cast<uint64_t>(&word);
    value[i] = static_cast<uint32_t>(100 + i);
  }
  store_lanes<forms::kB32>(&value, at, kAllLanes);
  EXPECT_EQ(word, 131u);
  store_lanes<forms::kB32>(&value, at, 0x00000ff0u);
  EXPECT_EQ(word, 111u);
}

}  // namespace
}  // namespace radiance::emulator
