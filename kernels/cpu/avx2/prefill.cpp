// Three rows and more: a slab of one tile is unpacked to fp32 once (8 KB at 128 k, in L1), then all
// rows pass over it six at a time: 12 sums, 2 weights and a broadcast fill 15 of 16 registers.
#include "kernels/cpu/avx2/kernels.hpp"
#include "kernels/cpu/avx2/tile.hpp"
#include "numerics/e2m1.hpp"
#include "numerics/int4.hpp"

namespace radiance::cpu {
namespace {

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
void run_tile(const GemmTask& task, int64_t tile, float* panel) {
  using SlabRows = void (*)(const GemmTask&, int64_t, const Slab&, const __m256*, float*, float*);
  static constexpr SlabRows run[kMaxRows] = {slab_rows<1>, slab_rows<2>, slab_rows<3>,
                                             slab_rows<4>, slab_rows<5>, slab_rows<6>};
  float* totals = panel + kSlab * kTileN;
  float* group_sums = totals + task.m * kTileN;
  const int64_t groups = groups_of(task);
  const uint8_t* codes = task.codes + tile * (task.k / kBlockK) * kBlockBytes;
  for (int64_t g = 0; g < groups; ++g) {
    const BlockRange range = group_blocks(task, g);
    const uint8_t* group_scales = task.scales + (tile * groups + g) * kScaleBytes<format>;
    const __m256 scales[2] = {load_scales<format>(group_scales, 0),
                              load_scales<format>(group_scales, 1)};
    for (int64_t b = range.begin; b < range.end; b += kSlab / kBlockK) {
      const int64_t left = range.end - b;
      const int64_t blocks = left < kSlab / kBlockK ? left : kSlab / kBlockK;
      unpack_tile<format>(codes + b * kBlockBytes, blocks, panel);
      const Slab slab = {
          panel, b * kBlockK, blocks * kBlockK, b == range.begin, b + blocks == range.end, g == 0};
      int64_t m0 = 0;
      for (int64_t passes = (task.m + kMaxRows - 1) / kMaxRows; passes > 0; --passes) {
        const int64_t rows = even_share(task.m - m0, passes);
        run[rows - 1](task, m0, slab, scales, group_sums, totals);
        m0 += rows;
      }
    }
  }
  for (int64_t m = 0; m < task.m; ++m) {
#pragma GCC unroll 8
    for (int i = 0; i < 2; ++i) {
      store_row(task, m, tile * kTileN + 8 * i, _mm256_load_ps(totals + m * kTileN + 8 * i));
    }
  }
}

}  // namespace

int64_t avx2_prefill_scratch_bytes(int64_t m, int64_t, int64_t group) {
  return (kSlab + (group > kSlab ? 2 : 1) * m) * kTileN * 4;
}

void avx2_prefill(const GemmTask& task, int64_t tile_begin, int64_t tile_end, void* scratch) {
  auto* panel = static_cast<float*>(scratch);
  for (int64_t tile = tile_begin; tile < tile_end; ++tile) {
    if (task.format == Format::kInt4) {
      run_tile<Format::kInt4>(task, tile, panel);
    } else {
      run_tile<Format::kMxfp4>(task, tile, panel);
    }
  }
}

}  // namespace radiance::cpu
