// Many rows: a slab of a strip of tiles is unpacked to bf16 once (12 KB at 128 k, in L1), then all
// rows pass over it eight at a time with 24 sums in registers; running sums stay in L2.
#include "kernels/cpu/avx512/kernels.hpp"
#include "kernels/cpu/avx512/tile.hpp"

namespace radiance::cpu {
namespace {

constexpr int kStrip = 3;       // tiles
constexpr int kMaxRows = 8;     // 8 rows x 3 tiles = 24 sums, 3 weights, 1 broadcast
constexpr int64_t kSlab = 256;  // k unpacked at a time: a group, or part of a longer one

struct Slab {
  const uint8_t* panel;  // [tile of the strip][pair of k] rows of 64 bytes
  int64_t panel_stride;
  int64_t block_begin, blocks;
  bool first_of_group, last_of_group, first_of_row;
};

// `rows` rows over one slab. group_sums carries a group's sums from slab to slab where a group has
// several; totals are the running sums. Without the pragmas GCC 12 keeps the sums in memory.
template <int rows, int strip>
void slab_rows(const GemmTask& task, int64_t m0, const Slab& slab, const __m512* scales,
               float* group_sums, float* totals) {
  const uint8_t* x[rows];
#pragma GCC unroll 8
  for (int r = 0; r < rows; ++r) {
    x[r] = task.rows + (m0 + r) * task.row_bytes + slab.block_begin * (2 * kBlockK);
  }
  __m512 sum[rows][strip];
#pragma GCC unroll 8
  for (int r = 0; r < rows; ++r) {
#pragma GCC unroll 8
    for (int i = 0; i < strip; ++i) {
      sum[r][i] = slab.first_of_group
                      ? _mm512_setzero_ps()
                      : _mm512_load_ps(group_sums + ((m0 + r) * strip + i) * kTileN);
    }
  }
  for (int64_t p = 0; p < slab.blocks * (kBlockK / 2); ++p) {
    __m512bh w[strip];
#pragma GCC unroll 8
    for (int i = 0; i < strip; ++i) {
      w[i] = (__m512bh)_mm512_load_si512(slab.panel + i * slab.panel_stride + p * 64);
    }
#pragma GCC unroll 8
    for (int r = 0; r < rows; ++r) {
      const __m512bh pair =
          (__m512bh)_mm512_set1_epi32(*reinterpret_cast<const int32_t*>(x[r] + 4 * p));
#pragma GCC unroll 8
      for (int i = 0; i < strip; ++i) sum[r][i] = _mm512_dpbf16_ps(sum[r][i], w[i], pair);
    }
  }
#pragma GCC unroll 8
  for (int r = 0; r < rows; ++r) {
#pragma GCC unroll 8
    for (int i = 0; i < strip; ++i) {
      const int64_t at = ((m0 + r) * strip + i) * kTileN;
      if (!slab.last_of_group) {
        _mm512_store_ps(group_sums + at, sum[r][i]);
      } else {
        const __m512 total = slab.first_of_row ? _mm512_setzero_ps() : _mm512_load_ps(totals + at);
        _mm512_store_ps(totals + at, _mm512_fmadd_ps(sum[r][i], scales[i], total));
      }
    }
  }
}

template <Format format, int strip>
void run_strip(const GemmTask& task, int64_t tile, uint8_t* scratch) {
  using SlabRows = void (*)(const GemmTask&, int64_t, const Slab&, const __m512*, float*, float*);
  static constexpr SlabRows run[kMaxRows] = {
      slab_rows<1, strip>, slab_rows<2, strip>, slab_rows<3, strip>, slab_rows<4, strip>,
      slab_rows<5, strip>, slab_rows<6, strip>, slab_rows<7, strip>, slab_rows<8, strip>};
  uint8_t* panel = scratch;
  auto* totals = reinterpret_cast<float*>(panel + kStrip * kSlab * kTileN * 2);
  float* group_sums = totals + task.m * kStrip * kTileN;
  const int64_t code_bytes = task.k / kBlockK * kBlockBytes;
  const int64_t groups = groups_of(task);

  for (int64_t g = 0; g < groups; ++g) {
    const BlockRange range = group_blocks(task, g);
    __m512 scales[strip];
    for (int i = 0; i < strip; ++i) {
      scales[i] =
          load_scales<format>(task.scales + ((tile + i) * groups + g) * kScaleBytes<format>);
    }
    for (int64_t b = range.begin; b < range.end; b += kSlab / kBlockK) {
      const int64_t left = range.end - b;
      const int64_t blocks = left < kSlab / kBlockK ? left : kSlab / kBlockK;
      const Slab slab = {panel, blocks * 256, b, blocks, b == range.begin, b + blocks == range.end,
                         g == 0};
      for (int i = 0; i < strip; ++i) {
        unpack_tile<format>(task.codes + (tile + i) * code_bytes + b * kBlockBytes, blocks,
                            panel + i * slab.panel_stride);
      }
      int64_t m0 = 0;
      for (int64_t passes = (task.m + kMaxRows - 1) / kMaxRows; passes > 0; --passes) {
        const int64_t rows = even_share(task.m - m0, passes);
        run[rows - 1](task, m0, slab, scales, group_sums, totals);
        m0 += rows;
      }
    }
  }
  for (int64_t m = 0; m < task.m; ++m) {
    for (int i = 0; i < strip; ++i) {
      store_row(task, m, (tile + i) * kTileN, _mm512_load_ps(totals + (m * strip + i) * kTileN));
    }
  }
}

template <Format format>
void run_format(const GemmTask& task, int64_t tile_begin, int64_t tile_end, uint8_t* scratch) {
  int64_t tile = tile_begin;
  for (; tile + kStrip <= tile_end; tile += kStrip) run_strip<format, kStrip>(task, tile, scratch);
  if (tile_end - tile == 2) run_strip<format, 2>(task, tile, scratch);
  if (tile_end - tile == 1) run_strip<format, 1>(task, tile, scratch);
}

}  // namespace

int64_t avx512_prefill_scratch_bytes(int64_t m, int64_t, int64_t group) {
  const int64_t sums = m * kStrip * kTileN * 4;
  return kStrip * kSlab * kTileN * 2 + (group > kSlab ? 2 : 1) * sums;
}

void avx512_prefill(const GemmTask& task, int64_t tile_begin, int64_t tile_end, void* scratch) {
  if (task.format == Format::kInt4) {
    run_format<Format::kInt4>(task, tile_begin, tile_end, static_cast<uint8_t*>(scratch));
  } else {
    run_format<Format::kMxfp4>(task, tile_begin, tile_end, static_cast<uint8_t*>(scratch));
  }
}

}  // namespace radiance::cpu
