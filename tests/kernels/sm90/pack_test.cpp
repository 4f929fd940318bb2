#include "kernels/sm90/pack.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <random>
#include <vector>

#include "numerics/e2m1.hpp"
#include "numerics/e4m3.hpp"
#include "numerics/int4.hpp"

namespace radiance::sm90 {
namespace {

// What Unpack in weights.cuh makes of a stored nibble, as a value: written out from its definition.
float unpacked(radiance_format format, uint32_t nibble) {
  if (format == RADIANCE_MXFP4) {
    return e4m3_to_f32(static_cast<u8>((nibble & 8) << 4 | (nibble & 7) << 2)) * 0x1p6f;
  }
  return e4m3_to_f32(static_cast<u8>((nibble & 0xe) + (nibble & 1) * 0x82)) * 0x1p8f;
}

// The nibble of (n, k) in the units, by geometry.hpp and the A fragment of wgmma.cuh.
uint32_t packed_nibble(const WeightShape& shape, const std::vector<uint8_t>& units, int64_t n,
                       int64_t k) {
  const int64_t slabs = (shape.k + kSlabK - 1) / kSlabK;
  const uint8_t* unit =
      units.data() + (n / kTileN * slabs + k / kSlabK) * unit_bytes(*scale_kind(shape));
  const int row = static_cast<int>(n % kTileN), in_slab = static_cast<int>(k % kSlabK);
  const int step = in_slab / 32, in_step = in_slab % 32;
  const int lane = row % 8 * 4 + in_step % 16 / 4;
  const int thread = row / 16 * 32 + lane;
  const int reg = row % 16 / 8 + in_step / 16 * 2;  // a[reg]
  const int word = step % 2 * 2 + reg / 2;
  uint32_t bits;
  std::memcpy(&bits, unit + ((step / 2 * 128 + thread) * 4 + word) * 4, 4);
  return bits >> (in_step % 4 * 8 + reg % 2 * 4) & 15u;
}

TEST(Sm90Pack, Int4EveryCodeHasItsValueInItsPlace) {
  std::mt19937 rng(9);
  const WeightShape shape{RADIANCE_AUTOROUND_INT4, 150, 336, 64};
  std::vector<uint32_t> codes(static_cast<size_t>(shape.k / 8 * shape.n));
  std::vector<uint16_t> scales(static_cast<size_t>(shape.groups() * shape.n));
  for (auto& c : codes) c = static_cast<uint32_t>(rng());
  for (auto& s : scales) s = static_cast<uint16_t>(rng() & 0xbfff);
  std::vector<uint8_t> units(packed_payload_bytes(shape));
  pack_payload(shape, codes.data(), scales.data(), units.data());
  const int64_t slabs = 3;
  for (int64_t n = 0; n < 192; ++n) {
    for (int64_t k = 0; k < 384; ++k) {
      const bool real = n < shape.n && k < shape.k;
      const float value =
          real ? static_cast<float>(int4_value(int4_code(
                     codes[static_cast<size_t>(k / 8 * shape.n + n)], static_cast<int>(k % 8))))
               : 0.0f;
      ASSERT_EQ(unpacked(shape.format, packed_nibble(shape, units, n, k)), value) << n << " " << k;
    }
    for (int64_t half = 0; half < 6; ++half) {
      uint16_t scale;
      std::memcpy(&scale,
                  units.data() + (n / 64 * slabs + half / 2) * unit_bytes(ScaleKind::kHalf) +
                      kCodeBytes + (half % 2 * 64 + n % 64) * 2,
                  2);
      const bool real = n < shape.n && half * 64 < shape.k;
      ASSERT_EQ(scale, real ? scales[static_cast<size_t>(half * shape.n + n)] : 0) << n << half;
    }
  }
}

TEST(Sm90Pack, Mxfp4EveryCodeHasItsValueInItsPlace) {
  std::mt19937 rng(10);
  const WeightShape shape{RADIANCE_MXFP4, 70, 96, 32};
  std::vector<uint8_t> codes(static_cast<size_t>(shape.n * shape.k / 2));
  std::vector<uint8_t> scales(static_cast<size_t>(shape.n * shape.groups()));
  for (auto& c : codes) c = static_cast<uint8_t>(rng());
  for (auto& s : scales) s = static_cast<uint8_t>(rng() % 255);
  std::vector<uint8_t> units(packed_payload_bytes(shape));
  pack_payload(shape, codes.data(), scales.data(), units.data());
  for (int64_t n = 0; n < shape.n; ++n) {
    for (int64_t k = 0; k < shape.k; ++k) {
      const auto code =
          static_cast<u8>(codes[static_cast<size_t>((n * shape.k + k) / 2)] >> (k % 2 * 4) & 15);
      ASSERT_EQ(unpacked(shape.format, packed_nibble(shape, units, n, k)), e2m1_to_f32(code));
    }
    for (int64_t g = 0; g < shape.groups(); ++g) {
      ASSERT_EQ(units[static_cast<size_t>(n / 64 * unit_bytes(ScaleKind::kE8m0) + kCodeBytes +
                                          g * 64 + n % 64)],
                scales[static_cast<size_t>(n * shape.groups() + g)]);
    }
  }
}

TEST(Sm90Pack, KnowsWhatTheTensorCoreKernelsTake) {
  const auto kind = [](int64_t k, int64_t group) {
    return scale_kind({RADIANCE_AUTOROUND_INT4, 64, k, group});
  };
  EXPECT_EQ(kind(512, 128), ScaleKind::kSlab);
  EXPECT_EQ(kind(512, 256), ScaleKind::kSlab);
  EXPECT_EQ(kind(576, 576), ScaleKind::kSlab);
  EXPECT_EQ(kind(576, 128), ScaleKind::kSlab);
  EXPECT_EQ(kind(576, 64), ScaleKind::kHalf);
  EXPECT_EQ(kind(576, 32), ScaleKind::kStep);
  EXPECT_EQ(kind(576, 40), std::nullopt);
  EXPECT_EQ(kind(584, 128), std::nullopt);  // rows of 584 bytes: no tensor map
  EXPECT_EQ(kind(256, 128), std::nullopt);  // short: fp32 sums
}

}  // namespace
}  // namespace radiance::sm90
