#include "lab/perm_map.hpp"

#include <gtest/gtest.h>

namespace radiance::lab {
namespace {

// v_perm_b32 by the manual, with faults to plant.
class FakeProbes final : public HardwareProbes {
 public:
  bool swap_operands = false;   // S0 and S1 the wrong way round
  bool signs_are_zero = false;  // selectors 8..11 give 0
  bool places_cross = false;    // results' bytes 0 and 1 change places

  std::vector<uint32_t> permute(std::span<const PermOperands> operands) override {
    std::vector<uint32_t> results;
    for (const PermOperands& o : operands) {
      const uint64_t pool =
          swap_operands ? uint64_t{o.s1} << 32 | o.s0 : uint64_t{o.s0} << 32 | o.s1;
      uint32_t result = 0;
      for (int b = 0; b < 4; ++b) {
        result |= uint32_t{select(pool, o.selector >> (8 * b) & 255u)} << (8 * b);
      }
      if (places_cross)
        result = (result & 0xffff0000u) | (result >> 8 & 255u) | (result & 255u) << 8;
      results.push_back(result);
    }
    return results;
  }
  OperandTable multiply_by_one() override { return {}; }
  std::vector<Unpack> unpack(std::span<const uint32_t>) override { return {}; }

 private:
  uint8_t select(uint64_t pool, uint32_t selector) const {
    if (selector < 8) return static_cast<uint8_t>(pool >> (8 * selector));
    if (selector < 12) {
      const bool sign = pool >> (16 * (selector - 8) + 15) & 1u;
      return sign && !signs_are_zero ? 0xff : 0;
    }
    return selector == 12 ? 0 : 0xff;
  }
};

int disagreements(const PermMap& map) {
  int count = 0;
  for (int selector = 0; selector < 256; ++selector) {
    count += map.meaning[static_cast<size_t>(selector)] != documented_perm(selector);
  }
  return count;
}

TEST(PermMap, FindsTheManualsMeaning) {
  FakeProbes probes;
  Random random(3);
  const PermMap map = probe_perm(probes, random);
  EXPECT_EQ(disagreements(map), 0);
  EXPECT_EQ(map.wrong_words, 0);
  EXPECT_EQ(describe(map.meaning[1]), "byte 1 of S1");
  EXPECT_EQ(describe(map.meaning[4]), "byte 0 of S0");
  EXPECT_EQ(describe(map.meaning[11]), "sign of byte 3 of S0");
  EXPECT_EQ(describe(map.meaning[12]), "0x00");
  EXPECT_EQ(describe(map.meaning[200]), "0xff");
}

TEST(PermMap, TellsFaultsApart) {
  Random random(4);
  FakeProbes swapped;
  swapped.swap_operands = true;
  EXPECT_EQ(disagreements(probe_perm(swapped, random)), 12);
  FakeProbes zero;
  zero.signs_are_zero = true;
  const PermMap map = probe_perm(zero, random);
  EXPECT_EQ(disagreements(map), 4);
  EXPECT_EQ(describe(map.meaning[9]), "0x00");
}

// One selector in all places cannot show it: the random words must.
TEST(PermMap, CrossedPlacesShowInWords) {
  Random random(5);
  FakeProbes crossed;
  crossed.places_cross = true;
  const PermMap map = probe_perm(crossed, random);
  EXPECT_EQ(disagreements(map), 0);
  EXPECT_GT(map.wrong_words, 1000);
}

}  // namespace
}  // namespace radiance::lab
