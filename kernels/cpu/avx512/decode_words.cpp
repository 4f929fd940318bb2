// Up to eight rows of 16-bit integers: codes go from memory to registers, are unpacked there once
// for up to eight rows, and meet the rows as words, two k at a time (vpdpwssd).
//
// Per 64 bytes of codes: 6 instructions of unpack, then 4 dots a row.
#include "kernels/cpu/avx512/kernels.hpp"
#include "kernels/cpu/avx512/words.hpp"

namespace radiance::cpu {
namespace {

constexpr int kMaxRows = 8;
constexpr int kStreams = 3;

template <Format format, int streams>
__attribute__((noinline)) void add_rests(const uint8_t* const* codes, const RowPart& part,
                                         const RowRest* rests, __m512i* sums) {
  for (int i = 0; i < streams; ++i) {
    sums[i] = _mm512_set1_epi32(-WordCodes<format>::offset * part.rest_sum);
    for (int j = 0; j < part.rest_count; ++j) {
      const RowRest& rest = rests[part.rest_begin + j];
      const __m512i words = _mm512_loadu_si512(codes[i] + rest.at / 4 * kBlockBytes);
      add_word_products(
          sums[i],
          WordCodes<format>::of_lowest(_mm512_srl_epi16(words, _mm_cvtsi32_si128(rest.at % 4 * 4))),
          _mm512_set1_epi32(rest.values));
    }
  }
}

// `streams` tiles, tile_begin + i * stride, read side by side.
template <Format format, int rows, int streams>
void run_tiles(const GemmTask& task, int64_t m0, int64_t tile_begin, int64_t stride) {
  using Code = WordCodes<format>;
  const int64_t code_bytes_of_tile = task.k / kBlockK * kBlockBytes;
  const int64_t groups = groups_of(task);
  const uint8_t* codes[streams];
  const uint8_t* scales[streams];
  // Running sums and rests in memory, once a part: the registers are the part's sums'.
  __m512 total[rows][streams];
  __m512i rest[rows][streams];
#pragma GCC unroll 8
  for (int i = 0; i < streams; ++i) {
    const int64_t tile = tile_begin + i * stride;
    codes[i] = task.codes + tile * code_bytes_of_tile;
    scales[i] = task.scales + tile * groups * kScaleBytes<format>;
    for (int r = 0; r < rows; ++r) total[r][i] = _mm512_setzero_ps();
  }
  const uint8_t* x[rows];
  const RowPart* row_part[rows];
#pragma GCC unroll 8
  for (int r = 0; r < rows; ++r) {
    x[r] = task.rows + (m0 + r) * task.row_bytes;
    row_part[r] = row_parts(task, m0 + r);
  }
  const int64_t parts = parts_per_group(task.group);
  for (int64_t p = 0; p < groups * parts; ++p) {
    const int64_t g = p / parts;
    const BlockRange range = part_blocks(task, g, p % parts);
    for (int r = 0; r < rows; ++r) {
      const RowPart& part = row_part[r][p];
      if (part.rest_count != 0) {
        add_rests<format, streams>(codes, part, row_rests(task, m0 + r), rest[r]);
      }
    }
    __m512i sum[rows][streams];
#pragma GCC unroll 8
    for (int r = 0; r < rows; ++r) {
      const __m512i back = _mm512_set1_epi32(-Code::offset * row_part[r][p].sum);
#pragma GCC unroll 8
      for (int i = 0; i < streams; ++i) sum[r][i] = back;
    }
    for (int64_t b = range.begin; b < range.end; ++b) {
      const auto step = [&]<int j>() __attribute__((always_inline)) {
        // Codes are read again for every pair: as words kept in registers they push sums out.
        int64_t at = b * kBlockBytes;
        asm volatile("" : "+r"(at));
        __m512i w[streams];
#pragma GCC unroll 8
        for (int i = 0; i < streams; ++i) {
          if (j == 0) _mm_prefetch(codes[i] + at + 4096 / streams, _MM_HINT_T0);
          w[i] = unpack_words<format, j>(_mm512_loadu_si512(codes[i] + at));
        }
#pragma GCC unroll 8
        for (int r = 0; r < rows; ++r) {
          const __m512i two = load_pair(x[r] + b * kIntegerBlockBytes + 4 * j);
#pragma GCC unroll 8
          for (int i = 0; i < streams; ++i) add_word_products(sum[r][i], w[i], two);
        }
      };
      step.template operator()<0>();
      step.template operator()<1>();
      step.template operator()<2>();
      step.template operator()<3>();
    }
    __m512 scale[streams];
#pragma GCC unroll 8
    for (int i = 0; i < streams; ++i) {
      scale[i] = _mm512_mul_ps(load_scales<format>(scales[i] + g * kScaleBytes<format>),
                               _mm512_set1_ps(Code::unit));
    }
#pragma GCC unroll 8
    for (int r = 0; r < rows; ++r) {
#pragma GCC unroll 8
      for (int i = 0; i < streams; ++i) {
        total[r][i] =
            fold_part<format>(sum[r][i], row_part[r][p], &rest[r][i], scale[i], total[r][i]);
      }
    }
  }
#pragma GCC unroll 8
  for (int i = 0; i < streams; ++i) {
    for (int r = 0; r < rows; ++r) {
      store_row(task, m0 + r, (tile_begin + i * stride) * kTileN, total[r][i]);
    }
  }
}

template <Format format, int rows>
void run_rows(const GemmTask& task, int64_t m0, int64_t tile_begin, int64_t tile_end) {
  const int64_t stride = (tile_end - tile_begin) / kStreams;
  for (int64_t t = 0; t < stride; ++t) {
    run_tiles<format, rows, kStreams>(task, m0, tile_begin + t, stride);
  }
  for (int64_t t = tile_begin + stride * kStreams; t < tile_end; ++t) {
    run_tiles<format, rows, 1>(task, m0, t, 0);
  }
}

template <Format format>
void run_format(const GemmTask& task, int64_t tile_begin, int64_t tile_end) {
  using RunRows = void (*)(const GemmTask&, int64_t, int64_t, int64_t);
  static constexpr RunRows run[kMaxRows] = {
      run_rows<format, 1>, run_rows<format, 2>, run_rows<format, 3>, run_rows<format, 4>,
      run_rows<format, 5>, run_rows<format, 6>, run_rows<format, 7>, run_rows<format, 8>};
  int64_t m0 = 0;
  for (int64_t passes = (task.m + kMaxRows - 1) / kMaxRows; passes > 0; --passes) {
    const int64_t rows = even_share(task.m - m0, passes);
    run[rows - 1](task, m0, tile_begin, tile_end);
    m0 += rows;
  }
}

}  // namespace

void avx512_decode_words(const GemmTask& task, int64_t tile_begin, int64_t tile_end, void*) {
  if (task.format == Format::kInt4) {
    run_format<Format::kInt4>(task, tile_begin, tile_end);
  } else {
    run_format<Format::kMxfp4>(task, tile_begin, tile_end);
  }
}

}  // namespace radiance::cpu
