// Many rows of 16-bit integers: a part of a strip of tiles is unpacked to words once (12 KB at a
// group of 128, in L1), then all rows pass over it eight at a time with 24 sums in registers;
// running sums stay in L2.
//
// One vpdpwssd takes 32 products of a weight's 4 and a row's 16 bits; bytes take two vpdpbusd for
// 64, the same, but two sums for each result and so half as many rows and tiles at a time.
#include "kernels/cpu/avx512/kernels.hpp"
#include "kernels/cpu/avx512/words.hpp"

namespace radiance::cpu {
namespace {

constexpr int kStrip = 3;    // tiles
constexpr int kMaxRows = 8;  // 8 rows x 3 tiles = 24 sums, 3 of codes, 1 broadcast
constexpr int64_t kPanelBytes = kPartK * kTileN * 2;
constexpr int64_t kPrefetch = 1024;

struct Panel {
  const uint8_t* words;  // [tile of the strip][pair of k] lines of 64 bytes
  int64_t stride;        // from tile to tile
  int64_t part;          // which, of a row's
  int64_t block_begin, blocks;
};

template <Format format, int rows, int strip>
void panel_rows(const GemmTask& task, int64_t m0, const Panel& panel, const __m512* scales,
                float* totals) {
  using Code = WordCodes<format>;
  const uint8_t* x[rows];
  const RowPart* part[rows];
  __m512i rest[rows][strip];
  const int64_t first_pair = panel.block_begin * (kBlockK / 2);
#pragma GCC unroll 8
  for (int r = 0; r < rows; ++r) {
    x[r] = task.rows + (m0 + r) * task.row_bytes + panel.block_begin * kIntegerBlockBytes;
    part[r] = row_parts(task, m0 + r) + panel.part;
    if (part[r]->rest_count == 0) continue;
    const RowRest* rests = row_rests(task, m0 + r) + part[r]->rest_begin;
#pragma GCC unroll 8
    for (int i = 0; i < strip; ++i)
      rest[r][i] = _mm512_set1_epi32(-Code::offset * part[r]->rest_sum);
    for (int j = 0; j < part[r]->rest_count; ++j) {
      const __m512i values = _mm512_set1_epi32(rests[j].values);
      const uint8_t* line = panel.words + (rests[j].at - first_pair) * 64;
#pragma GCC unroll 8
      for (int i = 0; i < strip; ++i) {
        add_word_products(rest[r][i], _mm512_load_si512(line + i * panel.stride), values);
      }
    }
  }
  __m512i sum[rows][strip];
#pragma GCC unroll 8
  for (int r = 0; r < rows; ++r) {
    const __m512i back = _mm512_set1_epi32(-Code::offset * part[r]->sum);
#pragma GCC unroll 8
    for (int i = 0; i < strip; ++i) sum[r][i] = back;
  }
  for (int64_t b = 0; b < panel.blocks; ++b) {
#pragma GCC unroll 4
    for (int j = 0; j < kBlockK / 2; ++j) {
      const int64_t pair = b * (kBlockK / 2) + j;
      __m512i w[strip];
#pragma GCC unroll 8
      for (int i = 0; i < strip; ++i) {
        w[i] = _mm512_load_si512(panel.words + i * panel.stride + pair * 64);
      }
#pragma GCC unroll 8
      for (int r = 0; r < rows; ++r) {
        const __m512i two = load_pair(x[r] + 4 * pair);
#pragma GCC unroll 8
        for (int i = 0; i < strip; ++i) add_word_products(sum[r][i], w[i], two);
      }
    }
  }
#pragma GCC unroll 8
  for (int r = 0; r < rows; ++r) {
#pragma GCC unroll 8
    for (int i = 0; i < strip; ++i) {
      float* total = totals + ((m0 + r) * strip + i) * kTileN;
      _mm512_store_ps(total, fold_part<format>(sum[r][i], *part[r], &rest[r][i], scales[i],
                                               _mm512_load_ps(total)));
    }
  }
}

template <Format format>
void unpack_panel(const uint8_t* codes, int64_t blocks, uint8_t* panel) {
  for (int64_t b = 0; b < blocks; ++b) {
    const __m512i words = _mm512_loadu_si512(codes + b * kBlockBytes);
    _mm_prefetch(codes + b * kBlockBytes + kPrefetch, _MM_HINT_T0);
    _mm512_store_si512(panel + b * 256, unpack_words<format, 0>(words));
    _mm512_store_si512(panel + b * 256 + 64, unpack_words<format, 1>(words));
    _mm512_store_si512(panel + b * 256 + 128, unpack_words<format, 2>(words));
    _mm512_store_si512(panel + b * 256 + 192, unpack_words<format, 3>(words));
  }
}

template <Format format, int strip>
void run_strip(const GemmTask& task, int64_t tile, uint8_t* scratch) {
  using PanelRows = void (*)(const GemmTask&, int64_t, const Panel&, const __m512*, float*);
  static constexpr PanelRows run[kMaxRows] = {
      panel_rows<format, 1, strip>, panel_rows<format, 2, strip>, panel_rows<format, 3, strip>,
      panel_rows<format, 4, strip>, panel_rows<format, 5, strip>, panel_rows<format, 6, strip>,
      panel_rows<format, 7, strip>, panel_rows<format, 8, strip>};
  auto* totals = reinterpret_cast<float*>(scratch + kStrip * kPanelBytes);
  for (int64_t i = 0; i < task.m * strip; ++i) {
    _mm512_store_ps(totals + i * kTileN, _mm512_setzero_ps());
  }
  const int64_t code_bytes = task.k / kBlockK * kBlockBytes;
  const int64_t groups = groups_of(task);
  const int64_t parts = parts_per_group(task.group);
  for (int64_t p = 0; p < groups * parts; ++p) {
    const int64_t g = p / parts;
    const BlockRange range = part_blocks(task, g, p % parts);
    const int64_t blocks = range.end - range.begin;
    const Panel panel = {scratch, blocks * 256, p, range.begin, blocks};
    __m512 scales[strip];
    for (int i = 0; i < strip; ++i) {
      scales[i] = _mm512_mul_ps(
          load_scales<format>(task.scales + ((tile + i) * groups + g) * kScaleBytes<format>),
          _mm512_set1_ps(WordCodes<format>::unit));
      unpack_panel<format>(task.codes + (tile + i) * code_bytes + range.begin * kBlockBytes, blocks,
                           scratch + i * panel.stride);
    }
    int64_t m0 = 0;
    for (int64_t passes = (task.m + kMaxRows - 1) / kMaxRows; passes > 0; --passes) {
      const int64_t rows = even_share(task.m - m0, passes);
      run[rows - 1](task, m0, panel, scales, totals);
      m0 += rows;
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

int64_t avx512_prefill_words_scratch_bytes(int64_t m, int64_t, int64_t) {
  return kStrip * (kPanelBytes + m * kTileN * 4);
}

void avx512_prefill_words(const GemmTask& task, int64_t tile_begin, int64_t tile_end,
                          void* scratch) {
  if (task.format == Format::kInt4) {
    run_format<Format::kInt4>(task, tile_begin, tile_end, static_cast<uint8_t*>(scratch));
  } else {
    run_format<Format::kMxfp4>(task, tile_begin, tile_end, static_cast<uint8_t*>(scratch));
  }
}

}  // namespace radiance::cpu
