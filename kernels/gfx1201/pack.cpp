#include "kernels/gfx1201/pack.hpp"

#include <cstring>

#include "kernels/gfx1201/geometry.hpp"
#include "numerics/int4.hpp"

namespace radiance::gfx1201 {
namespace {

size_t round_up_256(size_t bytes) { return (bytes + 255) / 256 * 256; }

int64_t tiles_of(const WeightShape& shape) { return (shape.n + kTileN - 1) / kTileN; }
int64_t slabs_of(const WeightShape& shape) { return shape.k / kSlabK; }

constexpr u32 kZigzag[16] = {zigzag(-8), zigzag(-7), zigzag(-6), zigzag(-5), zigzag(-4), zigzag(-3),
                             zigzag(-2), zigzag(-1), zigzag(0),  zigzag(1),  zigzag(2),  zigzag(3),
                             zigzag(4),  zigzag(5),  zigzag(6),  zigzag(7)};

// A checkpoint's word of eight consecutive k as a word of the packed layout: each code in zigzag
// form, k 0..3 in the even nibbles, 4..7 in the odd ones.
uint32_t packed_word(uint32_t word) {
  uint32_t packed = 0;
  for (int i = 0; i < kCodesPerWord; ++i) {
    packed |= kZigzag[int4_code(word, i)] << (4 * (i % 4 * 2 + i / 4));
  }
  return packed;
}

void pack_tile(const WeightShape& shape, const uint32_t* codes, int64_t n0, int64_t k0,
               uint8_t* tile) {
  for (int step = 0; step < kSteps; ++step) {
    for (int half = 0; half < 2; ++half) {
      const uint32_t* row = codes + (k0 + fragment_k(step, half, 0)) / kCodesPerWord * shape.n;
      for (int i = 0; i < kTileN; ++i) {
        const uint32_t word = n0 + i < shape.n ? packed_word(row[n0 + i]) : 0;
        std::memcpy(tile + tile_word(i, step, half) * 4, &word, 4);
      }
    }
  }
}

// The scales of a tile: [16 features][folds].
void pack_scales(const WeightShape& shape, int folds, const uint16_t* scales, int64_t n0,
                 int64_t k0, uint8_t* tile) {
  for (int i = 0; i < kTileN; ++i) {
    for (int fold = 0; fold < folds; ++fold) {
      const int64_t group = (k0 + fold * (kSlabK / folds)) / shape.group;
      const uint16_t scale = n0 + i < shape.n ? scales[group * shape.n + n0 + i] : uint16_t{0};
      std::memcpy(tile + (i * folds + fold) * 2, &scale, 2);
    }
  }
}

}  // namespace

size_t packed_scales_offset(const WeightShape& shape, int folds) {
  if (folds != 0) return static_cast<size_t>(tiles_of(shape) * slabs_of(shape) * kTileBytes);
  return round_up_256(static_cast<size_t>(shape.n * (shape.k / kCodesPerWord) * 4));
}

size_t packed_payload_bytes(const WeightShape& shape, int folds) {
  const int64_t scales =
      folds != 0 ? tiles_of(shape) * slabs_of(shape) * kTileN * folds : shape.groups() * shape.n;
  return packed_scales_offset(shape, folds) + static_cast<size_t>(scales * 2);
}

void pack_payload(const WeightShape& shape, int folds, const void* codes, const void* scales,
                  uint8_t* payload) {
  uint8_t* packed_scales = payload + packed_scales_offset(shape, folds);
  if (folds == 0) {
    std::memcpy(payload, codes, static_cast<size_t>(shape.n * (shape.k / kCodesPerWord) * 4));
    std::memcpy(packed_scales, scales, static_cast<size_t>(shape.groups() * shape.n * 2));
    return;
  }
  for (int64_t tile = 0; tile < tiles_of(shape); ++tile) {
    for (int64_t slab = 0; slab < slabs_of(shape); ++slab) {
      const int64_t at = tile * slabs_of(shape) + slab;
      pack_tile(shape, static_cast<const uint32_t*>(codes), tile * kTileN, slab * kSlabK,
                payload + at * kTileBytes);
      pack_scales(shape, folds, static_cast<const uint16_t*>(scales), tile * kTileN, slab * kSlabK,
                  packed_scales + at * kTileN * folds * 2);
    }
  }
}

}  // namespace radiance::gfx1201
