#include "kernels/cpu/pack.hpp"

#include <algorithm>
#include <cstring>

#include "kernels/cpu/layout.hpp"
#include "numerics/int4.hpp"

namespace radiance::cpu {
namespace {

size_t round_up_64(int64_t bytes) { return static_cast<size_t>((bytes + 63) / 64 * 64); }

// Moves a checkpoint word's eight codes, k ascending from the lowest nibble, to their places.
uint32_t arrange(uint32_t word) {
  uint32_t lane = 0;
  for (int k = 0; k < kBlockK; ++k) lane |= int4_code(word, k) << code_shift(k);
  return lane;
}

// Eight codes of feature n from k0 on, in checkpoint order.
uint32_t source_word(const WeightShape& shape, const void* codes, int64_t n, int64_t k0) {
  if (shape.format == RADIANCE_AUTOROUND_INT4) {
    return static_cast<const uint32_t*>(codes)[k0 / kCodesPerWord * shape.n + n];
  }
  uint32_t word;
  std::memcpy(&word, static_cast<const uint8_t*>(codes) + (n * shape.k + k0) / 2, sizeof(word));
  return word;  // little endian: byte i holds k0 + 2i in its low nibble
}

}  // namespace

size_t packed_code_bytes(const WeightShape& shape) {
  return round_up_64(tiles_of(shape.n) * (shape.k / kBlockK) * kBlockBytes);
}

size_t packed_scale_bytes(const WeightShape& shape) {
  const int64_t bytes = shape.format == RADIANCE_MXFP4 ? 1 : 2;
  return round_up_64(tiles_of(shape.n) * shape.groups() * kTileN * bytes);
}

void pack_tiles(const WeightShape& shape, const void* codes, const void* scales, int64_t tile_begin,
                int64_t tile_end, uint8_t* packed_codes, uint8_t* packed_scales) {
  const bool mxfp4 = shape.format == RADIANCE_MXFP4;
  const uint32_t zero = arrange(mxfp4 ? 0u : 0x88888888u);
  const int64_t blocks = shape.k / kBlockK;
  const int64_t groups = shape.groups();
  for (int64_t tile = tile_begin; tile < tile_end; ++tile) {
    const int64_t n0 = tile * kTileN;
    const int64_t count = std::min(kTileN, shape.n - n0);
    auto* words = reinterpret_cast<uint32_t*>(packed_codes + tile * blocks * kBlockBytes);
    for (int64_t b = 0; b < blocks; ++b) {
      for (int64_t lane = 0; lane < kTileN; ++lane) {
        words[b * kTileN + lane] =
            lane < count ? arrange(source_word(shape, codes, n0 + lane, b * kBlockK)) : zero;
      }
    }
    for (int64_t g = 0; g < groups; ++g) {
      const int64_t to = (tile * groups + g) * kTileN;
      for (int64_t lane = 0; lane < kTileN; ++lane) {
        const bool real = lane < count;
        const int64_t n = n0 + lane;
        if (mxfp4) {
          packed_scales[to + lane] =
              real ? static_cast<const uint8_t*>(scales)[n * groups + g] : uint8_t{0};
        } else {
          reinterpret_cast<uint16_t*>(packed_scales)[to + lane] =
              real ? static_cast<const uint16_t*>(scales)[g * shape.n + n] : uint16_t{0};
        }
      }
    }
  }
}

}  // namespace radiance::cpu
