#include "kernels/cpu/pack.hpp"

#include <gtest/gtest.h>

#include <random>
#include <vector>

#include "kernels/cpu/layout.hpp"
#include "numerics/int4.hpp"

namespace radiance::cpu {
namespace {

// Reads a code back by the words of layout.hpp alone.
uint32_t packed_code(const WeightShape& shape, const std::vector<uint8_t>& codes, int64_t n,
                     int64_t k) {
  const auto* words = reinterpret_cast<const uint32_t*>(codes.data());
  const uint32_t word =
      words[(n / kTileN * (shape.k / kBlockK) + k / kBlockK) * kTileN + n % kTileN];
  const int j = static_cast<int>(k % kBlockK);
  return word >> ((j % 2) * 16 + (j / 2) * 4) & 15u;
}

TEST(Pack, Int4EveryCodeAndScaleFindsItsPlace) {
  std::mt19937 rng(3);
  const WeightShape shape{RADIANCE_AUTOROUND_INT4, 37, 72, 32};
  std::vector<uint32_t> codes(static_cast<size_t>(shape.k / 8 * shape.n));
  std::vector<uint16_t> scales(static_cast<size_t>(shape.groups() * shape.n));
  for (auto& c : codes) c = static_cast<uint32_t>(rng());
  for (auto& s : scales) s = static_cast<uint16_t>(rng());
  std::vector<uint8_t> packed_codes(packed_code_bytes(shape)), packed(packed_scale_bytes(shape));
  pack_tiles(shape, codes.data(), scales.data(), 0, tiles_of(shape.n), packed_codes.data(),
             packed.data());
  const auto* packed_scales = reinterpret_cast<const uint16_t*>(packed.data());
  for (int64_t n = 0; n < tiles_of(shape.n) * kTileN; ++n) {
    for (int64_t k = 0; k < shape.k; ++k) {
      const uint32_t expected =
          n < shape.n
              ? int4_code(codes[static_cast<size_t>(k / 8 * shape.n + n)], static_cast<int>(k % 8))
              : 8u;
      ASSERT_EQ(packed_code(shape, packed_codes, n, k), expected) << n << " " << k;
    }
    for (int64_t g = 0; g < shape.groups(); ++g) {
      const uint16_t expected =
          n < shape.n ? scales[static_cast<size_t>(g * shape.n + n)] : uint16_t{0};
      ASSERT_EQ(packed_scales[(n / kTileN * shape.groups() + g) * kTileN + n % kTileN], expected);
    }
  }
}

TEST(Pack, Mxfp4EveryCodeAndScaleFindsItsPlace) {
  std::mt19937 rng(4);
  const WeightShape shape{RADIANCE_MXFP4, 19, 96, 32};
  std::vector<uint8_t> codes(static_cast<size_t>(shape.n * shape.k / 2));
  std::vector<uint8_t> scales(static_cast<size_t>(shape.n * shape.groups()));
  for (auto& c : codes) c = static_cast<uint8_t>(rng());
  for (auto& s : scales) s = static_cast<uint8_t>(rng() % 255);
  std::vector<uint8_t> packed_codes(packed_code_bytes(shape)), packed(packed_scale_bytes(shape));
  pack_tiles(shape, codes.data(), scales.data(), 0, tiles_of(shape.n), packed_codes.data(),
             packed.data());
  for (int64_t n = 0; n < tiles_of(shape.n) * kTileN; ++n) {
    for (int64_t k = 0; k < shape.k; ++k) {
      uint32_t expected = 0;
      if (n < shape.n) {
        expected = codes[static_cast<size_t>((n * shape.k + k) / 2)] >> (k % 2 * 4) & 15u;
      }
      ASSERT_EQ(packed_code(shape, packed_codes, n, k), expected) << n << " " << k;
    }
    for (int64_t g = 0; g < shape.groups(); ++g) {
      const uint8_t expected =
          n < shape.n ? scales[static_cast<size_t>(n * shape.groups() + g)] : uint8_t{0};
      ASSERT_EQ(
          packed[static_cast<size_t>((n / kTileN * shape.groups() + g) * kTileN + n % kTileN)],
          expected);
    }
  }
}

TEST(Pack, TakesLittleMoreThanFourBits) {
  // Group 128: 4 + 16 / 128 bits, and no more than alignment beside them.
  const WeightShape shape{RADIANCE_AUTOROUND_INT4, 17408, 5120, 128};
  const double bits = 8.0 *
                      static_cast<double>(packed_code_bytes(shape) + packed_scale_bytes(shape)) /
                      (17408.0 * 5120.0);
  EXPECT_LE(bits, 4.125 + 1e-3);
}

}  // namespace
}  // namespace radiance::cpu
