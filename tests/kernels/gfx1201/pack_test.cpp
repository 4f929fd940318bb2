#include "kernels/gfx1201/pack.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <random>
#include <vector>

#include "kernels/gfx1201/geometry.hpp"
#include "kernels/gfx1201/policy.hpp"
#include "numerics/int4.hpp"

namespace radiance::gfx1201 {
namespace {

// The nibble of (n, k) in the tiles, by geometry.hpp: which step, lane half and byte k is.
uint32_t packed_nibble(const WeightShape& shape, const std::vector<uint8_t>& payload, int64_t n,
                       int64_t k) {
  const int64_t slabs = shape.k / kSlabK;
  const uint8_t* tile = payload.data() + (n / kTileN * slabs + k / kSlabK) * kTileBytes;
  const int in_slab = static_cast<int>(k % kSlabK);
  const int step = in_slab / 32 * 2 + in_slab % 16 / 8, half = in_slab % 32 / 16;
  const int byte = in_slab % 8;
  const int lane = half * 16 + static_cast<int>(n % kTileN);
  // [half of the steps][lane][four words]
  uint32_t word;
  std::memcpy(&word, tile + step / 4 * 512 + lane * 16 + step % 4 * 4, 4);
  // Byte b of the operand: even nibbles are bytes 0..3, odd ones 4..7.
  return word >> (byte % 4 * 8 + byte / 4 * 4) & 15u;
}

struct Weight {
  WeightShape shape;
  std::vector<uint32_t> codes;
  std::vector<uint16_t> scales;
  std::vector<uint8_t> payload;
  int folds = 0;
};

Weight random_weight(int64_t n, int64_t k, int64_t group) {
  std::mt19937 rng(static_cast<unsigned>(n + k + group));
  Weight w{{RADIANCE_AUTOROUND_INT4, n, k, group}, {}, {}, {}, 0};
  w.codes.resize(static_cast<size_t>(k / 8 * n));
  w.scales.resize(static_cast<size_t>(w.shape.groups() * n));
  for (auto& c : w.codes) c = static_cast<uint32_t>(rng());
  for (auto& s : w.scales) s = static_cast<uint16_t>(rng() & 0xbfff);
  w.folds = scale_folds(w.shape, true);
  w.payload.assign(packed_payload_bytes(w.shape, w.folds), 0xee);
  pack_payload(w.shape, w.folds, w.codes.data(), w.scales.data(), w.payload.data());
  return w;
}

TEST(Gfx1201Pack, EveryCodeHasItsValueInItsPlace) {
  for (const int64_t group : {128, 256, 384, 64, 32}) {
    const Weight w = random_weight(150, 384, group);
    const int64_t slabs = 3;
    for (int64_t n = 0; n < 160; ++n) {
      for (int64_t k = 0; k < w.shape.k; ++k) {
        const int value =
            n < w.shape.n
                ? int4_value(int4_code(w.codes[static_cast<size_t>(k / 8 * w.shape.n + n)],
                                       static_cast<int>(k % 8)))
                : 0;
        ASSERT_EQ(from_zigzag(packed_nibble(w.shape, w.payload, n, k)), value) << n << " " << k;
      }
      for (int64_t k = 0; k < w.shape.k; k += kSlabK / w.folds) {
        const int64_t slab = k / kSlabK, fold = k % kSlabK * w.folds / kSlabK;
        uint16_t scale;
        std::memcpy(&scale,
                    w.payload.data() + packed_scales_offset(w.shape, w.folds) +
                        (((n / kTileN * slabs + slab) * kTileN + n % kTileN) * w.folds + fold) * 2,
                    2);
        ASSERT_EQ(scale,
                  n < w.shape.n ? w.scales[static_cast<size_t>(k / group * w.shape.n + n)] : 0);
      }
    }
  }
}

TEST(Gfx1201Pack, OthersKeepTheCheckpointsOrder) {
  for (const auto& [k, group] : {std::pair<int64_t, int64_t>{256, 40}, {136, 136}, {264, 128}}) {
    const Weight w = random_weight(40, k, group);
    ASSERT_EQ(w.folds, 0);
    EXPECT_EQ(std::memcmp(w.payload.data(), w.codes.data(), w.codes.size() * 4), 0);
    EXPECT_EQ(std::memcmp(w.payload.data() + packed_scales_offset(w.shape, w.folds),
                          w.scales.data(), w.scales.size() * 2),
              0);
    EXPECT_EQ(w.payload.size(), packed_scales_offset(w.shape, w.folds) + w.scales.size() * 2);
  }
}

TEST(Gfx1201Pack, ZigzagGoesBothWays) {
  for (int value = -8; value <= 7; ++value) {
    EXPECT_LT(zigzag(value), 16u);
    EXPECT_EQ(from_zigzag(zigzag(value)), value);
  }
}

TEST(Gfx1201Pack, EveryKOfASlabIsInOneStepAndByte) {
  std::vector<int> seen(kSlabK, 0);
  std::vector<int> words(kTileBytes / 4, 0);
  for (int step = 0; step < kSteps; ++step) {
    for (int half = 0; half < 2; ++half) {
      for (int j = 0; j < 8; ++j) ++seen[static_cast<size_t>(fragment_k(step, half, j))];
      for (int n = 0; n < kTileN; ++n) ++words[static_cast<size_t>(tile_word(n, step, half))];
    }
  }
  for (const int count : seen) EXPECT_EQ(count, 1);
  for (const int count : words) EXPECT_EQ(count, 1);
}

}  // namespace
}  // namespace radiance::gfx1201
