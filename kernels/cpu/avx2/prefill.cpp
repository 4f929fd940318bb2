// Three rows and more: a slab of a strip of tiles is unpacked to fp32 once (8 KB a tile at 128 k),
// then all rows pass over it six at a time: 12 sums, 2 weights and a broadcast fill 15 of 16
// registers. Three tiles a strip, because every strip streams all rows once: with one, 512 rows of
// 20 KB came from the last cache at 9 GB/s a core, and ran at 55 % of the peak where 64 rows ran at
// 77 %.
#include "kernels/cpu/avx2/kernels.hpp"
#include "kernels/cpu/avx2/tile.hpp"
#include "numerics/e2m1.hpp"
#include "numerics/int4.hpp"

namespace radiance::cpu {
namespace {

constexpr int kStrip = 3;  // tiles
constexpr int kMaxRows = 6;
constexpr int64_t kSlab = 128;  // k unpacked at a time: a group, or part of a longer one

// nibbles: a code in the low four bits of each lane, anything above.
template <Format format>
inline __m256 code_values(__m256i nibbles) {
  if constexpr (format == Format::kInt4) {
    const __m256i codes = _mm256_and_si256(nibbles, _mm256_set1_epi32(15));
    return _mm256_cvtepi32_ps(_mm256_sub_epi32(codes, _mm256_set1_epi32(kSymmetricZero)));
  } else {
    const __m256 magnitudes =
        _mm256_setr_ps(e2m1_to_f32(0), e2m1_to_f32(1), e2m1_to_f32(2), e2m1_to_f32(3),
                       e2m1_to_f32(4), e2m1_to_f32(5), e2m1_to_f32(6), e2m1_to_f32(7));
    const __m256 magnitude = _mm256_permutevar8x32_ps(magnitudes, nibbles);
    const __m256i sign = _mm256_slli_epi32(_mm256_and_si256(nibbles, _mm256_set1_epi32(8)), 28);
    return _mm256_or_ps(magnitude, _mm256_castsi256_ps(sign));
  }
}

// panel[k][16]
template <Format format>
inline void unpack_tile(const uint8_t* codes, int64_t blocks, float* panel) {
  for (int64_t b = 0; b < blocks; ++b) {
    for (int half = 0; half < 2; ++half) {
      const __m256i words =
          _mm256_loadu_si256(reinterpret_cast<const __m256i*>(codes + b * kBlockBytes + 32 * half));
#pragma GCC unroll 8
      for (int k = 0; k < kBlockK; ++k) {
        _mm256_store_ps(panel + (b * kBlockK + k) * kTileN + 8 * half,
                        code_values<format>(_mm256_srli_epi32(words, code_shift(k))));
      }
    }
  }
}

struct Slab {
  const float* panel;
  int64_t k_begin, count;
  bool first_of_group, last_of_group, first_of_row;
};

template <int rows>
void slab_rows(const GemmTask& task, int64_t m0, const Slab& slab, const __m256* scales,
               float* group_sums, float* totals) {
  const float* x[rows];
#pragma GCC unroll 8
  for (int r = 0; r < rows; ++r) {
    x[r] = reinterpret_cast<const float*>(task.rows + (m0 + r) * task.row_bytes) + slab.k_begin;
  }
  __m256 sum[rows][2];
#pragma GCC unroll 8
  for (int r = 0; r < rows; ++r) {
#pragma GCC unroll 8
    for (int i = 0; i < 2; ++i) {
      sum[r][i] = slab.first_of_group ? _mm256_setzero_ps()
                                      : _mm256_load_ps(group_sums + (m0 + r) * kTileN + 8 * i);
    }
  }
  for (int64_t k = 0; k < slab.count; ++k) {
    const __m256 w0 = _mm256_load_ps(slab.panel + k * kTileN);
    const __m256 w1 = _mm256_load_ps(slab.panel + k * kTileN + 8);
#pragma GCC unroll 8
    for (int r = 0; r < rows; ++r) {
      const __m256 value = _mm256_broadcast_ss(x[r] + k);
      sum[r][0] = _mm256_fmadd_ps(value, w0, sum[r][0]);
      sum[r][1] = _mm256_fmadd_ps(value, w1, sum[r][1]);
    }
  }
#pragma GCC unroll 8
  for (int r = 0; r < rows; ++r) {
#pragma GCC unroll 8
    for (int i = 0; i < 2; ++i) {
      const int64_t at = (m0 + r) * kTileN + 8 * i;
      if (!slab.last_of_group) {
        _mm256_store_ps(group_sums + at, sum[r][i]);
      } else {
        const __m256 total = slab.first_of_row ? _mm256_setzero_ps() : _mm256_load_ps(totals + at);
        _mm256_store_ps(totals + at, _mm256_fmadd_ps(sum[r][i], scales[i], total));
      }
    }
  }
}

template <Format format>
void run_strip(const GemmTask& task, int64_t first_tile, int tiles, float* panel) {
  using SlabRows = void (*)(const GemmTask&, int64_t, const Slab&, const __m256*, float*, float*);
  static constexpr SlabRows run[kMaxRows] = {slab_rows<1>, slab_rows<2>, slab_rows<3>,
                                             slab_rows<4>, slab_rows<5>, slab_rows<6>};
  float* totals = panel + kStrip * kSlab * kTileN;
  float* group_sums = totals + kStrip * task.m * kTileN;
  const int64_t groups = groups_of(task);
  const int64_t code_bytes = task.k / kBlockK * kBlockBytes;
  for (int64_t g = 0; g < groups; ++g) {
    const BlockRange range = group_blocks(task, g);
    __m256 scales[kStrip][2];
    for (int t = 0; t < tiles; ++t) {
      const uint8_t* at = task.scales + ((first_tile + t) * groups + g) * kScaleBytes<format>;
      scales[t][0] = load_scales<format>(at, 0);
      scales[t][1] = load_scales<format>(at, 1);
    }
    for (int64_t b = range.begin; b < range.end; b += kSlab / kBlockK) {
      const int64_t left = range.end - b;
      const int64_t blocks = left < kSlab / kBlockK ? left : kSlab / kBlockK;
      for (int t = 0; t < tiles; ++t) {
        unpack_tile<format>(task.codes + (first_tile + t) * code_bytes + b * kBlockBytes, blocks,
                            panel + t * kSlab * kTileN);
      }
      int64_t m0 = 0;
      for (int64_t passes = (task.m + kMaxRows - 1) / kMaxRows; passes > 0; --passes) {
        const int64_t rows = even_share(task.m - m0, passes);
        for (int t = 0; t < tiles; ++t) {
          const Slab slab = {panel + t * kSlab * kTileN, b * kBlockK,
                             blocks * kBlockK,           b == range.begin,
                             b + blocks == range.end,    g == 0};
          run[rows - 1](task, m0, slab, scales[t], group_sums + t * task.m * kTileN,
                        totals + t * task.m * kTileN);
        }
        m0 += rows;
      }
    }
  }
  for (int64_t m = 0; m < task.m; ++m) {
    for (int t = 0; t < tiles; ++t) {
      const float* total = totals + (t * task.m + m) * kTileN;
      const int64_t n0 = (first_tile + t) * kTileN;
      store_row(task, m, n0, _mm256_load_ps(total));
      store_row(task, m, n0 + 8, _mm256_load_ps(total + 8));
    }
  }
}

}  // namespace

int64_t avx2_prefill_scratch_bytes(int64_t m, int64_t, int64_t group) {
  return kStrip * (kSlab + (group > kSlab ? 2 : 1) * m) * kTileN * 4;
}

void avx2_prefill(const GemmTask& task, int64_t tile_begin, int64_t tile_end, void* scratch) {
  auto* panel = static_cast<float*>(scratch);
  for (int64_t tile = tile_begin; tile < tile_end; tile += kStrip) {
    const int tiles = tile_end - tile < kStrip ? static_cast<int>(tile_end - tile) : kStrip;
    if (task.format == Format::kInt4) {
      run_strip<Format::kInt4>(task, tile, tiles, panel);
    } else {
      run_strip<Format::kMxfp4>(task, tile, tiles, panel);
    }
  }
}

}  // namespace radiance::cpu
