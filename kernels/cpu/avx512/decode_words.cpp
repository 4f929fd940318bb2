// Up to eight rows of 16-bit integers: codes go from memory to registers, are unpacked there once
// for up to eight rows, and meet the rows as words, two k at a time (vpdpwssd).
//
// Per 64 bytes of codes: 6 instructions of unpack, then 4 dots a row.
#include "kernels/cpu/avx512/kernels.hpp"
#include "kernels/cpu/avx512/row_passes.hpp"
#include "kernels/cpu/avx512/word_dots.hpp"
#include "kernels/cpu/avx512/words.hpp"

namespace radiance::cpu {
namespace {

constexpr int64_t kPrefetch = 4096;

// sums[row][tile]: `blocks` blocks of the tiles with `rows` rows, from begin[row] on.
template <Format format, int rows, int streams>
void dot(const uint8_t* const* codes, const i32* begin, const uint8_t* x, int64_t row_bytes,
         int64_t blocks, __m512i* sums) {
  if constexpr (format == Format::kInt4 && rows == 8 && streams == 3) {
    dot_codes_8x3(codes, begin, x, row_bytes, blocks, sums);
  } else {
    __m512i sum[rows][streams];
#pragma GCC unroll 8
    for (int r = 0; r < rows; ++r) {
#pragma GCC unroll 8
      for (int i = 0; i < streams; ++i) sum[r][i] = _mm512_set1_epi32(begin[r]);
    }
    for (int64_t b = 0; b < blocks; ++b) {
      const auto step = [&]<int j>() __attribute__((always_inline)) {
        // Codes are read again for every pair: as words kept in registers they push sums out.
        int64_t at = b * kBlockBytes;
        asm volatile("" : "+r"(at));
        __m512i w[streams];
#pragma GCC unroll 8
        for (int i = 0; i < streams; ++i) {
          if (j == 0) _mm_prefetch(codes[i] + at + kPrefetch / streams, _MM_HINT_T0);
          w[i] = unpack_words<format, j>(_mm512_loadu_si512(codes[i] + at));
        }
#pragma GCC unroll 8
        for (int r = 0; r < rows; ++r) {
          const __m512i two = load_pair(x + r * row_bytes + b * kIntegerBlockBytes + 4 * j);
#pragma GCC unroll 8
          for (int i = 0; i < streams; ++i) add_word_products(sum[r][i], w[i], two);
        }
      };
      step.template operator()<0>();
      step.template operator()<1>();
      step.template operator()<2>();
      step.template operator()<3>();
    }
#pragma GCC unroll 8
    for (int r = 0; r < rows; ++r) {
#pragma GCC unroll 8
      for (int i = 0; i < streams; ++i) sums[r * streams + i] = sum[r][i];
    }
  }
}

// Puts a row's rests to its sums, and both into units of 1 / 512; `codes` of whole tiles.
template <Format format, int streams>
__attribute__((noinline)) void add_rests(const uint8_t* const* codes, const RowPart& part,
                                         const RowRest* rests, __m512i* sums) {
  for (int i = 0; i < streams; ++i) {
    __m512i rest = _mm512_set1_epi32(-WordCodes<format>::offset * part.rest_sum);
    for (int j = part.rest_begin; j < part.rest_begin + part.rest_count; ++j) {
      const int32_t at = rests[j].at;
      const __m512i words = _mm512_loadu_si512(codes[i] + at / 4 * kBlockBytes);
      add_word_products(
          rest,
          WordCodes<format>::of_lowest(_mm512_srl_epi16(words, _mm_cvtsi32_si128(at % 4 * 4))),
          _mm512_set1_epi32(rests[j].values));
    }
    sums[i] = join_rests(sums[i], rest, part);
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
  __m512 total[rows * streams];
  for (__m512& t : total) t = _mm512_setzero_ps();
  for (int i = 0; i < streams; ++i) {
    const int64_t tile = tile_begin + i * stride;
    codes[i] = task.codes + tile * code_bytes_of_tile;
    scales[i] = task.scales + tile * groups * kScaleBytes<format>;
  }
  const uint8_t* x = task.rows + m0 * task.row_bytes;
  const uint8_t* first_part = x + row_parts_offset(task.k);
  const int64_t parts = parts_per_group(task.group);
  for (int64_t g = 0; g < groups; ++g) {
    __m512 scale[streams];
    for (int i = 0; i < streams; ++i) {
      scale[i] = _mm512_mul_ps(load_scales<format>(scales[i] + g * kScaleBytes<format>),
                               _mm512_set1_ps(Code::unit));
    }
    for (int64_t p = 0; p < parts; ++p, first_part += sizeof(RowPart)) {
      const auto part_of = [&](int r) {
        return reinterpret_cast<const RowPart*>(first_part + r * task.row_bytes);
      };
      const BlockRange range = part_blocks(task, g, p);
      if (range.begin == range.end) continue;  // the last group is short
      const uint8_t* part_codes[streams];
      for (int i = 0; i < streams; ++i) part_codes[i] = codes[i] + range.begin * kBlockBytes;
      i32 begin[rows];
      for (int r = 0; r < rows; ++r) begin[r] = -Code::offset * part_of(r)->sum;
      __m512i sums[rows * streams];
      dot<format, rows, streams>(part_codes, begin, x + range.begin * kIntegerBlockBytes,
                                 task.row_bytes, range.end - range.begin, sums);
      for (int r = 0; r < rows; ++r) {
        const RowPart& part = *part_of(r);
        __m512i* sum = sums + r * streams;
        if (part.rest_count != 0) {
          add_rests<format, streams>(codes, part, row_rests(task, m0 + r), sum);
        }
        fold_part<streams>(sum, part, scale, total + r * streams);
      }
    }
  }
  for (int r = 0; r < rows; ++r) {
    for (int i = 0; i < streams; ++i) {
      store_row(task, m0 + r, (tile_begin + i * stride) * kTileN, total[r * streams + i]);
    }
  }
}

struct DecodeWords {
  static constexpr int kMaxRows = 8;
  static constexpr int streams_of(int /*rows*/) { return 3; }
  template <Format format, int rows, int streams>
  static void run(const GemmTask& task, int64_t m0, int64_t tile_begin, int64_t stride) {
    run_tiles<format, rows, streams>(task, m0, tile_begin, stride);
  }
};

}  // namespace

void avx512_decode_words(const GemmTask& task, int64_t tile_begin, int64_t tile_end, void*) {
  run_passes<DecodeWords>(task, tile_begin, tile_end);
}

}  // namespace radiance::cpu
