// Many rows of 16-bit integers: a part of a strip of tiles is unpacked to words once (12 KB at a
// group of 128, in L1), then all rows pass over it eight at a time with 24 sums in registers;
// running sums stay in L2.
//
// One vpdpwssd takes 32 products of a weight's 4 and a row's 16 bits; bytes take two vpdpbusd for
// 64, the same, but two sums for each result and so half as many rows and tiles at a time.
#include "kernels/cpu/avx512/kernels.hpp"
#include "kernels/cpu/avx512/word_dots.hpp"
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

// sums[row][tile] of a panel with `rows` rows.
template <int rows, int strip>
void dot(const Panel& panel, const uint8_t* x, int64_t row_bytes, __m512i* sums) {
  if constexpr (rows == 8 && strip == 3) {
    dot_panel_8x3(panel.words, panel.stride, x, row_bytes, panel.blocks, sums);
  } else {
    __m512i sum[rows][strip];
#pragma GCC unroll 8
    for (int r = 0; r < rows; ++r) {
#pragma GCC unroll 8
      for (int i = 0; i < strip; ++i) sum[r][i] = _mm512_setzero_si512();
    }
    for (int64_t pair = 0; pair < panel.blocks * (kBlockK / 2); ++pair) {
      __m512i w[strip];
#pragma GCC unroll 8
      for (int i = 0; i < strip; ++i) {
        w[i] = _mm512_load_si512(panel.words + i * panel.stride + pair * 64);
      }
#pragma GCC unroll 8
      for (int r = 0; r < rows; ++r) {
        const __m512i two = load_pair(x + r * row_bytes + 4 * pair);
#pragma GCC unroll 8
        for (int i = 0; i < strip; ++i) add_word_products(sum[r][i], w[i], two);
      }
    }
#pragma GCC unroll 8
    for (int r = 0; r < rows; ++r) {
#pragma GCC unroll 8
      for (int i = 0; i < strip; ++i) sums[r * strip + i] = sum[r][i];
    }
  }
}

// Puts a row's rests to its sums, and both into units of 1 / 512.
template <int strip>
__attribute__((noinline)) void add_rests(const Panel& panel, const RowPart& part,
                                         const RowRest* rests, __m512i* sums) {
  for (int i = 0; i < strip; ++i) {
    __m512i rest = _mm512_setzero_si512();
    for (int j = part.rest_begin; j < part.rest_begin + part.rest_count; ++j) {
      const int64_t pair = rests[j].at - panel.block_begin * (kBlockK / 2);
      add_word_products(rest, _mm512_load_si512(panel.words + i * panel.stride + pair * 64),
                        _mm512_set1_epi32(rests[j].values));
    }
    sums[i] = join_rests(sums[i], rest, part);
  }
}

// `passes` times `rows` rows from m0 on.
template <int rows, int strip>
void panel_rows(const GemmTask& task, int64_t m0, int64_t passes, const Panel& panel,
                const __m512* scales, __m512* totals) {
  const int64_t row_bytes = task.row_bytes;
  const uint8_t* x = task.rows + m0 * row_bytes + panel.block_begin * kIntegerBlockBytes;
  const uint8_t* part_bytes =
      task.rows + m0 * row_bytes + row_parts_offset(task.k) + panel.part * int64_t{sizeof(RowPart)};
  __m512* total = totals + m0 * strip;
  for (int64_t m = m0; passes > 0; --passes) {
    __m512i sums[rows * strip];
    dot<rows, strip>(panel, x, row_bytes, sums);
    x += rows * row_bytes;
    for (int r = 0; r < rows; ++r, ++m, part_bytes += row_bytes, total += strip) {
      const auto& part = *reinterpret_cast<const RowPart*>(part_bytes);
      if (part.rest_count != 0) {
        add_rests<strip>(panel, part, row_rests(task, m), sums + r * strip);
      }
      fold_part<strip>(sums + r * strip, part, scales, total);
    }
  }
}

template <Format format>
void unpack_panel(const uint8_t* codes, int64_t blocks, uint8_t* panel) {
  const __m512i table = load_word_table<format>();
  for (int64_t b = 0; b < blocks; ++b) {
    const __m512i words = _mm512_loadu_si512(codes + b * kBlockBytes);
    _mm_prefetch(codes + b * kBlockBytes + kPrefetch, _MM_HINT_T0);
    _mm512_store_si512(panel + b * 256, (__m512i)unpack<0>(table, words));
    _mm512_store_si512(panel + b * 256 + 64, (__m512i)unpack<1>(table, words));
    _mm512_store_si512(panel + b * 256 + 128, (__m512i)unpack<2>(table, words));
    _mm512_store_si512(panel + b * 256 + 192, (__m512i)unpack<3>(table, words));
  }
}

template <int strip>
void run_panel(const GemmTask& task, const Panel& panel, const __m512* scales, __m512* totals) {
  using PanelRows =
      void (*)(const GemmTask&, int64_t, int64_t, const Panel&, const __m512*, __m512*);
  static constexpr PanelRows run[kMaxRows] = {
      panel_rows<1, strip>, panel_rows<2, strip>, panel_rows<3, strip>, panel_rows<4, strip>,
      panel_rows<5, strip>, panel_rows<6, strip>, panel_rows<7, strip>, panel_rows<8, strip>};
  const int64_t whole = task.m / kMaxRows;
  run[kMaxRows - 1](task, 0, whole, panel, scales, totals);
  const int64_t left = task.m % kMaxRows;
  if (left > 0) run[left - 1](task, whole * kMaxRows, 1, panel, scales, totals);
}

template <Format format, int strip>
void run_strip(const GemmTask& task, int64_t tile, uint8_t* scratch) {
  auto* totals = reinterpret_cast<__m512*>(scratch + kStrip * kPanelBytes);
  for (int64_t i = 0; i < task.m * strip; ++i) totals[i] = _mm512_setzero_ps();
  const int64_t code_bytes = task.k / kBlockK * kBlockBytes;
  const int64_t groups = groups_of(task);
  const int64_t parts = parts_per_group(task.group);
  for (int64_t p = 0; p < groups * parts; ++p) {
    const int64_t g = p / parts;
    const BlockRange range = part_blocks(task, g, p % parts);
    const int64_t blocks = range.end - range.begin;
    if (blocks == 0) continue;  // the last group is short
    const Panel panel = {scratch, blocks * 256, p, range.begin, blocks};
    __m512 scales[strip];
    for (int i = 0; i < strip; ++i) {
      scales[i] = _mm512_mul_ps(
          load_scales<format>(task.scales + ((tile + i) * groups + g) * kScaleBytes<format>),
          _mm512_set1_ps(WordCodes<format>::unit));
      unpack_panel<format>(task.codes + (tile + i) * code_bytes + range.begin * kBlockBytes, blocks,
                           scratch + i * panel.stride);
    }
    run_panel<strip>(task, panel, scales, totals);
  }
  for (int64_t m = 0; m < task.m; ++m) {
    for (int i = 0; i < strip; ++i) {
      store_row(task, m, (tile + i) * kTileN, totals[m * strip + i]);
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
