// AMX tile registers as the kernels here use them.
//
// A: 16 rows of 32 bf16 activations. B: 16 rows of 16 bf16 pairs, row p the pair (2p, 2p + 1) of k
// for 16 features: just what unpack_tile writes. C: 16 rows of 16 fp32 sums.
#pragma once

#include <immintrin.h>

#include "kernels/cpu/avx512/tile.hpp"

namespace radiance::cpu {
namespace {

constexpr int64_t kTileRows = 16;     // activation rows of a tile
constexpr int64_t kStepK = 32;        // k of one multiplication
constexpr int64_t kStepBytes = 1024;  // a B tile
constexpr int64_t kBlocksPerStep = kStepK / kBlockK;

struct alignas(64) TileConfig {
  uint8_t palette = 1;
  uint8_t start_row = 0;
  uint8_t reserved[14] = {};
  uint16_t row_bytes[16] = {};
  uint8_t rows[16] = {};
};
static_assert(sizeof(TileConfig) == 64);

// Not _tile_loadconfig: GCC 12 tells the optimizer that it reads 8 bytes of the 64, and may drop
// the stores to the others (GCC bug 114098).
inline void load_config(const TileConfig& config) { asm volatile("ldtilecfg %0" ::"m"(config)); }

// Unpacks blocks of one tile into B tiles; a last step that is not full ends in zeros, which take
// whatever the A tile holds there out of the product.
template <Format format>
inline void unpack_steps(const uint8_t* codes, int64_t blocks, uint8_t* panel) {
  unpack_tile<format>(codes, blocks, panel);
  for (int64_t b = blocks; b % kBlocksPerStep != 0; ++b) {
    for (int i = 0; i < 4; ++i)
      _mm512_store_si512(panel + b * 256 + 64 * i, _mm512_setzero_si512());
  }
}

inline int64_t steps_of(int64_t blocks) { return (blocks + kBlocksPerStep - 1) / kBlocksPerStep; }

}  // namespace
}  // namespace radiance::cpu
