#include "kernels/gfx1201/mxfp4_pack.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <vector>

#include "kernels/gfx1201/mxfp4_geometry.hpp"

namespace radiance::gfx1201 {
namespace {

struct Weight {
  WeightShape shape;
  std::vector<uint8_t> codes, scales;

  Weight(int64_t n, int64_t k)
      : shape{RADIANCE_MXFP4, n, k, kBlockK},
        codes(static_cast<size_t>(n * k / 2)),
        scales(static_cast<size_t>(n * k / kBlockK), 127) {
    std::minstd_rand random(7);
    for (uint8_t& pair : codes) pair = static_cast<uint8_t>(random() >> 8);
  }

  uint8_t& scale(int64_t n, int64_t block) {
    return scales[static_cast<size_t>(n * (shape.k / kBlockK) + block)];
  }
  void clear(int64_t n, int64_t block) {
    for (int i = 0; i < kBlockK / 2; ++i) {
      codes[static_cast<size_t>((n * shape.k + block * kBlockK) / 2 + i)] = 0x80;  // 0 and -0
    }
  }
  double value(int64_t n, int64_t k) {
    const uint8_t code = codes[static_cast<size_t>((n * shape.k + k) / 2)] >> (k % 2 * 4) & 15;
    return std::ldexp(e2m1_to_f32(code), scale(n, k / kBlockK) - 127);
  }
};

// What a kernel makes of a packed weight: the operand byte's value times the powers of two.
double unpacked(const std::vector<uint8_t>& packed, const WeightShape& shape, bool folded,
                int64_t n, int64_t k) {
  const Mxfp4Layout layout = mxfp4_layout(shape);
  const int64_t at = n / kTileN * ((shape.k + kSlabK - 1) / kSlabK) + k / kSlabK;
  const auto* tile = reinterpret_cast<const u32*>(&packed[layout.codes + at * kTileBytes]);
  const uint8_t block =
      packed[layout.blocks + at * kBlockBytes + n % kTileN * kBlocks + k % kSlabK / kBlockK];
  for (int step = 0; step < kSteps; ++step) {
    for (int half = 0; half < 2; ++half) {
      for (int j = 0; j < 8; ++j) {
        if (fragment_k(step, half, j) != k % kSlabK) continue;
        const u32 word = tile[tile_word(static_cast<int>(n % kTileN), step, half)];
        const u32 code = word >> mxfp4_shift(j) & 15u;
        const int row = reinterpret_cast<const int16_t*>(&packed[layout.rows])[n];
        const u32 table = folded ? block : 8 * -kFoldMin;
        const u32 magnitude = kFoldTable.words[table / 4 + (code & 7) / 4] >> (8 * (code & 3));
        const float value = e4m3_to_f32(static_cast<u8>((magnitude & 0x7f) | (code & 8) << 4));
        return std::ldexp(value, row + (folded ? 0 : block - 127));
      }
    }
  }
  return NAN;
}

void expect_exact(Weight& weight, bool keeps_subnormals, bool folded, int64_t rows_outside) {
  std::vector<uint8_t> packed(mxfp4_layout(weight.shape).bytes, 0xee);
  PackedHeader header{};
  EXPECT_EQ(pack_mxfp4(weight.shape, weight.codes.data(), weight.scales.data(), keeps_subnormals,
                       header, packed.data()),
            rows_outside);
  EXPECT_EQ(is_folded(header), folded);
  EXPECT_EQ(header.scales_offset, mxfp4_layout(weight.shape).blocks);
  EXPECT_EQ(header.extra_offset, mxfp4_layout(weight.shape).rows);
  for (int64_t n = 0; n < weight.shape.n; ++n) {
    for (int64_t k = 0; k < weight.shape.k; ++k) {
      ASSERT_EQ(unpacked(packed, weight.shape, folded, n, k), weight.value(n, k))
          << "n " << n << " k " << k;
    }
  }
}

TEST(Mxfp4Pack, FoldsFourteenBinades) {
  Weight weight(40, 256);
  for (int64_t n = 0; n < weight.shape.n; ++n) {
    for (int64_t block = 0; block < 8; ++block) {
      weight.scale(n, block) = static_cast<uint8_t>(5 * n + (3 * block + n) % 15);
    }
  }
  expect_exact(weight, true, true, 0);
  expect_exact(weight, false, false, 40);  // without subnormals only eleven
}

TEST(Mxfp4Pack, OneRowOutsideUnfoldsAll) {
  Weight weight(20, 128);
  weight.scale(3, 1) = 127 - 15;
  weight.scale(17, 2) = 127 + 40;
  expect_exact(weight, true, false, 2);
}

TEST(Mxfp4Pack, AShortSlabIsNotFolded) {
  Weight weight(33, 224);
  weight.scale(5, 6) = 120;
  expect_exact(weight, true, false, 0);
}

TEST(Mxfp4Pack, BlocksOfZerosReachNowhere) {
  Weight weight(16, 128);
  weight.scale(3, 1) = 0;
  weight.clear(3, 1);
  weight.scale(5, 0) = 254;
  weight.clear(5, 0);
  for (int64_t block = 0; block < 4; ++block) weight.clear(7, block);
  expect_exact(weight, true, true, 0);
}

TEST(Mxfp4Pack, TheEndsOfTheExponentsRange) {
  Weight weight(16, 128);
  for (int64_t n = 0; n < 16; ++n) {
    weight.scale(n, 0) = static_cast<uint8_t>(n % 2 == 0 ? 0 : 254);
    for (int64_t block = 1; block < 4; ++block) {
      weight.scale(n, block) = static_cast<uint8_t>(n % 2 == 0 ? 14 : 240);
    }
  }
  expect_exact(weight, true, true, 0);
  weight.scale(0, 1) = 227;
  weight.scale(1, 1) = 27;
  expect_exact(weight, true, false, 2);
}

TEST(Mxfp4Pack, RefusesWhatFp32CannotSum) {
  Weight weight(16, 64);
  weight.scale(2, 0) = 0;
  weight.scale(2, 1) = 228;
  std::vector<uint8_t> packed(mxfp4_layout(weight.shape).bytes);
  PackedHeader header{};
  try {
    pack_mxfp4(weight.shape, weight.codes.data(), weight.scales.data(), true, header,
               packed.data());
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.status(), RADIANCE_UNSUPPORTED);
    EXPECT_NE(std::string(error.what()).find("1 of 16 features"), std::string::npos);
  }
}

TEST(Mxfp4Pack, FourAndAQuarterBits) {
  const WeightShape shape{RADIANCE_MXFP4, 5120, 8704, kBlockK};
  const double bits = 8.0 * static_cast<double>(mxfp4_layout(shape).bytes) / (5120.0 * 8704.0);
  EXPECT_LT(bits, 4.253);
  EXPECT_GE(bits, 4.25);
}

}  // namespace
}  // namespace radiance::gfx1201
