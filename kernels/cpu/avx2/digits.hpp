// One or two rows by exact integer group sums, whatever instruction multiplies the bytes: what
// decode.cpp and decode_vnni.cpp share.
#pragma once

#include "kernels/cpu/avx2/tile.hpp"
#include "kernels/cpu/row_integers.hpp"

namespace radiance::cpu {
namespace {

template <Format format>
inline __m256i code_bytes(__m256i nibbles) {
  if constexpr (format == Format::kInt4) {
    return nibbles;
  } else {
    static constexpr ByteTable table = make_e2m1_bytes();
    return _mm256_shuffle_epi8(
        _mm256_broadcastsi128_si256(_mm_load_si128(reinterpret_cast<const __m128i*>(table.byte))),
        nibbles);
  }
}

// Sums of the digits over a group, for the two halves of a tile.
struct WideSums {
  __m256i digit[2][kDigits];
};

// Sums of the rests of a row's part with the codes of a tile.
template <Format format>
__attribute__((noinline)) void rests_of_tile(const uint8_t* codes, const RowPart& part,
                                             const RowRest* rests, __m256i* sums) {
  const __m256i mask = _mm256_set1_epi8(0x0f);
  const __m256i ones = _mm256_set1_epi16(1);
  for (int half = 0; half < 2; ++half) {
    __m256i sum = _mm256_set1_epi32(-OffsetCodes<format>::offset * part.rest_sum);
    for (int j = 0; j < part.rest_count; ++j) {
      const RowRest& rest = rests[part.rest_begin + j];
      const __m256i words = _mm256_loadu_si256(
          reinterpret_cast<const __m256i*>(codes + rest.at / 2 * kBlockBytes + 32 * half));
      const __m256i bytes = code_bytes<format>(
          _mm256_and_si256(_mm256_srl_epi16(words, _mm_cvtsi32_si128(rest.at % 2 * 4)), mask));
      sum = _mm256_add_epi32(
          sum,
          _mm256_madd_epi16(_mm256_maddubs_epi16(bytes, _mm256_set1_epi32(rest.values)), ones));
    }
    sums[half] = _mm256_sll_epi32(sum, _mm_cvtsi32_si128(part.rest_shift));
  }
}

// `streams` tiles, tile_begin + i * stride, in turns of a few lines each: one stream alone reached
// half of the memory's rate.
template <typename Dot, Format format, int streams>
void run_tiles(const GemmTask& task, int64_t m, int64_t tile_begin, int64_t stride) {
  using Code = OffsetCodes<format>;
  constexpr int64_t at_once = Dot::template blocks_at_once<format>;
  const int64_t code_bytes_of_tile = task.k / kBlockK * kBlockBytes;
  const int64_t groups = groups_of(task);
  const uint8_t* row = task.rows + m * task.row_bytes;
  __m256 total[streams][2];
  for (auto& t : total) t[0] = t[1] = _mm256_setzero_ps();
  const int64_t parts = parts_per_group(task.group);
  const RowPart* row_part = row_parts(task, m);
  for (int64_t p = 0; p < groups * parts; ++p) {
    const int64_t g = p / parts;
    const BlockRange range = part_blocks(task, g, p % parts);
    const RowPart& part = row_part[p];
    WideSums wide[streams] = {};
    __m256i rest[streams][2];
    if (part.rest_count != 0) {
      for (int i = 0; i < streams; ++i) {
        rests_of_tile<format>(task.codes + (tile_begin + i * stride) * code_bytes_of_tile, part,
                              row_rests(task, m), rest[i]);
      }
    }
    for (int64_t b = range.begin; b < range.end; b += at_once) {
      const int64_t end = b + at_once < range.end ? b + at_once : range.end;
      for (int i = 0; i < streams; ++i) {
        Dot::template add<format>(task.codes + (tile_begin + i * stride) * code_bytes_of_tile, row,
                                  b, end, wide[i]);
      }
    }
    const float unit = part.rest_count != 0 ? kIntegerUnit : part.unit;
    for (int i = 0; i < streams; ++i) {
      const uint8_t* scales =
          task.scales + ((tile_begin + i * stride) * groups + g) * kScaleBytes<format>;
      for (int half = 0; half < 2; ++half) {
        const __m256i* digit = wide[i].digit[half];
        __m256i exact =
            _mm256_sub_epi32(_mm256_add_epi32(digit[0], _mm256_slli_epi32(digit[1], kDigitBits)),
                             _mm256_set1_epi32(Code::offset * part.sum));
        if (part.rest_count != 0) {
          exact = _mm256_add_epi32(_mm256_sll_epi32(exact, _mm_cvtsi32_si128(part.shift)),
                                   rest[i][half]);
        }
        const __m256 scale =
            _mm256_mul_ps(load_scales<format>(scales, half), _mm256_set1_ps(Code::unit * unit));
        total[i][half] = _mm256_fmadd_ps(_mm256_cvtepi32_ps(exact), scale, total[i][half]);
      }
    }
  }
  for (int i = 0; i < streams; ++i) {
    for (int half = 0; half < 2; ++half) {
      store_row(task, m, (tile_begin + i * stride) * kTileN + 8 * half, total[i][half]);
    }
  }
}

template <typename Dot, Format format>
void run_format(const GemmTask& task, int64_t tile_begin, int64_t tile_end) {
  constexpr int streams = 4;
  const int64_t stride = (tile_end - tile_begin) / streams;
  for (int64_t m = 0; m < task.m; ++m) {
    for (int64_t t = 0; t < stride; ++t) {
      run_tiles<Dot, format, streams>(task, m, tile_begin + t, stride);
    }
    for (int64_t t = tile_begin + stride * streams; t < tile_end; ++t) {
      run_tiles<Dot, format, 1>(task, m, t, 0);
    }
  }
}

// Dot has blocks_at_once<format> and add<format>(codes of a tile, row, first block, end,
// sums).
template <typename Dot>
inline void decode_digits(const GemmTask& task, int64_t tile_begin, int64_t tile_end) {
  if (task.format == Format::kInt4) {
    run_format<Dot, Format::kInt4>(task, tile_begin, tile_end);
  } else {
    run_format<Dot, Format::kMxfp4>(task, tile_begin, tile_end);
  }
}

}  // namespace
}  // namespace radiance::cpu
