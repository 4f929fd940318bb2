// One or two rows by exact integer group sums, whatever instruction multiplies the bytes: what
// decode.cpp and decode_vnni.cpp share.
#pragma once

#include "kernels/cpu/avx2/tile.hpp"
#include "kernels/cpu/row_digits.hpp"

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
    const auto add = [&]<int digits>() __attribute__((always_inline)) {
      for (int64_t b = range.begin; b < range.end; b += at_once) {
        const int64_t end = b + at_once < range.end ? b + at_once : range.end;
        for (int i = 0; i < streams; ++i) {
          Dot::template add<format, digits>(
              task.codes + (tile_begin + i * stride) * code_bytes_of_tile, row, b, end, wide[i]);
        }
      }
    };
    if (part.digits == kFewDigits) {
      add.template operator()<kFewDigits>();
    } else {
      add.template operator()<kDigits>();
    }
    for (int i = 0; i < streams; ++i) {
      const uint8_t* scales =
          task.scales + ((tile_begin + i * stride) * groups + g) * kScaleBytes<format>;
      for (int half = 0; half < 2; ++half) {
        const __m256i* digit = wide[i].digit[half];
        const __m256i high = _mm256_add_epi32(digit[1], _mm256_slli_epi32(digit[2], kDigitBits));
        const __m256i exact =
            _mm256_sub_epi32(_mm256_add_epi32(digit[0], _mm256_slli_epi32(high, kDigitBits)),
                             _mm256_set1_epi32(Code::offset * part.sum));
        const __m256 scale = _mm256_mul_ps(load_scales<format>(scales, half),
                                           _mm256_set1_ps(Code::unit * part.unit));
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

// Dot has blocks_at_once<format> and add<format, digits>(codes of a tile, row, first block, end,
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
