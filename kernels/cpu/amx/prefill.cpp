// Many rows: a slab of twelve tiles is unpacked once (48 KB at 128 k, in L2), then blocks of 32
// rows by two tiles pass over it with four C tiles. Twelve tiles, because every unit of work
// streams all rows of x once: with two it would ask the last cache for 40 GB/s a core.
#include "kernels/cpu/amx/kernels.hpp"
#include "kernels/cpu/amx/tiles.hpp"

namespace radiance::cpu {
namespace {

constexpr int64_t kMaxTiles = 12;
constexpr int64_t kSlab = 128;  // k unpacked at a time: a group, or part of a longer one
constexpr int64_t kPanelBytes = kSlab / kStepK * kStepBytes;  // of one tile
constexpr int64_t kBlockRows = 2 * kTileRows;
constexpr int64_t kTileFloats = kTileRows * kTileN;

int64_t row_blocks(int64_t m) { return (m + kBlockRows - 1) / kBlockRows; }

// totals and group_sums: [row block][tile][32 rows][16]
struct Scratch {
  uint8_t* panel;
  float* totals;
  float* group_sums;
  float* sums;  // four C tiles

  float* total(int64_t block, int64_t tiles, int64_t tile) const {
    return totals + (block * tiles + tile) * 2 * kTileFloats;
  }
  float* group_sum(int64_t block, int64_t tiles, int64_t tile) const {
    return group_sums + (block * tiles + tile) * 2 * kTileFloats;
  }
};

struct Slab {
  int64_t block_begin, blocks;
  bool first_of_group, last_of_group, first_of_row;
};

void configure() {
  TileConfig config;
  for (int i = 0; i < 8; ++i) {
    config.row_bytes[i] = 64;
    config.rows[i] = 16;
  }
  load_config(config);
}

inline void fold(const float* sums, __m512 scale, bool first, float* totals) {
  for (int64_t r = 0; r < kBlockRows; ++r) {
    const __m512 sum = _mm512_load_ps(sums + r * kTileN);
    const __m512 total = first ? _mm512_setzero_ps() : _mm512_load_ps(totals + r * kTileN);
    _mm512_store_ps(totals + r * kTileN, _mm512_fmadd_ps(sum, scale, total));
  }
}

// 32 rows by one or two tiles over a slab. C tiles: 0, 1 rows 0..15 and 16..31 of the first tile,
// 2, 3 of the second. Rows past m are whatever the workspace holds; their sums are never stored.
template <int width>
inline void multiply_block(const uint8_t* x, int64_t row_bytes, const uint8_t* panel, int64_t steps,
                           bool fresh, const float* start, float* end) {
  if (fresh) {
    _tile_zero(0);
    _tile_zero(1);
    if constexpr (width == 2) {
      _tile_zero(2);
      _tile_zero(3);
    }
  } else {
    _tile_loadd(0, start, 64);
    _tile_loadd(1, start + kTileFloats, 64);
    if constexpr (width == 2) {
      _tile_loadd(2, start + 2 * kTileFloats, 64);
      _tile_loadd(3, start + 3 * kTileFloats, 64);
    }
  }
  for (int64_t step = 0; step < steps; ++step) {
    _tile_loadd(4, x + step * 2 * kStepK, row_bytes);
    _tile_loadd(6, panel + step * kStepBytes, 64);
    _tile_dpbf16ps(0, 4, 6);
    _tile_loadd(5, x + kTileRows * row_bytes + step * 2 * kStepK, row_bytes);
    _tile_dpbf16ps(1, 5, 6);
    if constexpr (width == 2) {
      _tile_loadd(7, panel + kPanelBytes + step * kStepBytes, 64);
      _tile_dpbf16ps(2, 4, 7);
      _tile_dpbf16ps(3, 5, 7);
    }
  }
  _tile_stored(0, end, 64);
  _tile_stored(1, end + kTileFloats, 64);
  if constexpr (width == 2) {
    _tile_stored(2, end + 2 * kTileFloats, 64);
    _tile_stored(3, end + 3 * kTileFloats, 64);
  }
}

template <Format format, int width>
void slab_block(const GemmTask& task, const Slab& slab, int64_t group, int64_t block, int64_t tiles,
                int64_t first_tile, int64_t tile, const Scratch& s) {
  const uint8_t* x =
      task.rows + block * kBlockRows * task.row_bytes + slab.block_begin * 2 * kBlockK;
  float* carried = s.group_sum(block, tiles, tile);
  float* end = slab.last_of_group ? s.sums : carried;
  multiply_block<width>(x, task.row_bytes, s.panel + tile * kPanelBytes, steps_of(slab.blocks),
                        slab.first_of_group, carried, end);
  if (!slab.last_of_group) return;
  const int64_t groups = groups_of(task);
  for (int i = 0; i < width; ++i) {
    const __m512 scale = load_scales<format>(
        task.scales + ((first_tile + tile + i) * groups + group) * kScaleBytes<format>);
    fold(s.sums + i * 2 * kTileFloats, scale, slab.first_of_row, s.total(block, tiles, tile + i));
  }
}

template <Format format>
void run_strip(const GemmTask& task, int64_t first_tile, int64_t tiles, const Scratch& s) {
  const int64_t code_bytes = task.k / kBlockK * kBlockBytes;
  const int64_t groups = groups_of(task);
  const int64_t blocks_m = row_blocks(task.m);
  for (int64_t g = 0; g < groups; ++g) {
    const BlockRange range = group_blocks(task, g);
    for (int64_t b = range.begin; b < range.end; b += kSlab / kBlockK) {
      const int64_t left = range.end - b;
      const int64_t blocks = left < kSlab / kBlockK ? left : kSlab / kBlockK;
      const Slab slab = {b, blocks, b == range.begin, b + blocks == range.end, g == 0};
      for (int64_t t = 0; t < tiles; ++t) {
        unpack_steps<format>(task.codes + (first_tile + t) * code_bytes + b * kBlockBytes, blocks,
                             s.panel + t * kPanelBytes);
      }
      for (int64_t block = 0; block < blocks_m; ++block) {
        int64_t t = 0;
        for (; t + 2 <= tiles; t += 2) {
          slab_block<format, 2>(task, slab, g, block, tiles, first_tile, t, s);
        }
        if (t < tiles) slab_block<format, 1>(task, slab, g, block, tiles, first_tile, t, s);
      }
    }
  }
  for (int64_t m = 0; m < task.m; ++m) {
    for (int64_t t = 0; t < tiles; ++t) {
      const float* total = s.total(m / kBlockRows, tiles, t) + m % kBlockRows * kTileN;
      store_row(task, m, (first_tile + t) * kTileN, _mm512_load_ps(total));
    }
  }
}

int64_t sums_bytes(int64_t m) { return row_blocks(m) * kMaxTiles * 2 * kTileFloats * 4; }

}  // namespace

int64_t amx_prefill_scratch_bytes(int64_t m, int64_t, int64_t group) {
  return kMaxTiles * kPanelBytes + (group > kSlab ? 2 : 1) * sums_bytes(m) + 4 * kTileFloats * 4;
}

void amx_prefill(const GemmTask& task, int64_t tile_begin, int64_t tile_end, void* scratch) {
  auto* at = static_cast<uint8_t*>(scratch);
  Scratch s{};
  s.panel = at;
  s.sums = reinterpret_cast<float*>(at + kMaxTiles * kPanelBytes);
  s.totals = s.sums + 4 * kTileFloats;
  s.group_sums = s.totals + sums_bytes(task.m) / 4;
  configure();
  for (int64_t tile = tile_begin; tile < tile_end; tile += kMaxTiles) {
    const int64_t tiles = tile_end - tile < kMaxTiles ? tile_end - tile : kMaxTiles;
    if (task.format == Format::kInt4) {
      run_strip<Format::kInt4>(task, tile, tiles, s);
    } else {
      run_strip<Format::kMxfp4>(task, tile, tiles, s);
    }
  }
  _tile_release();
}

}  // namespace radiance::cpu
