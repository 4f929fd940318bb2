// One or two rows: exact integer group sums from byte multiply-adds.
//
// Converting codes to float takes 4 instructions for 8 weights before the first FMA, too slow for
// the stream. Instead the activations are split into three signed digits (row_digits.hpp) and met
// with the codes as they stand, unsigned: per 64 bytes of codes 6 instructions of unpack and 24 of
// vpmaddubsw + vpaddw. The zero point comes back through the digits' own group sums.
//
// Digits reach 56 and offset codes 15 (int4) or 24 (e2m1 in halves, plus 12), so a pair is at most
// 1680 or 2688 and int16 holds 19 or 12 pairs: sums are widened after 16 or 8.
#include "kernels/cpu/avx2/kernels.hpp"
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

template <Format format>
constexpr int64_t kBlocksPerWidening = format == Format::kInt4 ? 8 : 4;

// Sums of the digits over a group, for the two halves of a tile.
struct WideSums {
  __m256i digit[2][kDigits];
};

// Adds blocks b0 .. b1 - 1 of a tile, few enough for 16 bits. Six sums, four registers of codes and
// the mask leave five: the sums of 32 bits stay in memory.
template <Format format>
inline void add_blocks(const uint8_t* codes, const uint8_t* row, int64_t b0, int64_t b1,
                       WideSums& wide) {
  const __m256i mask = _mm256_set1_epi8(0x0f);
  __m256i sum[2][kDigits];
#pragma GCC unroll 8
  for (int d = 0; d < kDigits; ++d) sum[0][d] = sum[1][d] = _mm256_setzero_si256();
  for (int64_t b = b0; b < b1; ++b) {
    const uint8_t* line = codes + b * kBlockBytes;
    _mm_prefetch(line + 1024, _MM_HINT_T0);
    const auto* digits = reinterpret_cast<const i32*>(row + b * kDigitBlockBytes);
    const __m256i first = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(line));
    const __m256i second = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(line + 32));
    const __m256i low[2] = {code_bytes<format>(_mm256_and_si256(first, mask)),
                            code_bytes<format>(_mm256_and_si256(second, mask))};
    const __m256i high[2] = {
        code_bytes<format>(_mm256_and_si256(_mm256_srli_epi16(first, 4), mask)),
        code_bytes<format>(_mm256_and_si256(_mm256_srli_epi16(second, 4), mask))};
#pragma GCC unroll 8
    for (int d = 0; d < kDigits; ++d) {
      const __m256i x = _mm256_set1_epi32(digits[2 * d]);
      sum[0][d] = _mm256_add_epi16(sum[0][d], _mm256_maddubs_epi16(low[0], x));
      sum[1][d] = _mm256_add_epi16(sum[1][d], _mm256_maddubs_epi16(low[1], x));
      const __m256i z = _mm256_set1_epi32(digits[2 * d + 1]);
      sum[0][d] = _mm256_add_epi16(sum[0][d], _mm256_maddubs_epi16(high[0], z));
      sum[1][d] = _mm256_add_epi16(sum[1][d], _mm256_maddubs_epi16(high[1], z));
    }
  }
  const __m256i ones = _mm256_set1_epi16(1);
#pragma GCC unroll 8
  for (int d = 0; d < kDigits; ++d) {
#pragma GCC unroll 2
    for (int half = 0; half < 2; ++half) {
      __m256i& digit = wide.digit[half][d];
      digit = _mm256_add_epi32(digit, _mm256_madd_epi16(sum[half][d], ones));
    }
  }
}

// `streams` tiles, tile_begin + i * stride, in turns of a few lines each: one stream alone reached
// half of the memory's rate.
template <Format format, int streams>
void run_tiles(const GemmTask& task, int64_t m, int64_t tile_begin, int64_t stride) {
  using Code = OffsetCodes<format>;
  constexpr int64_t widening = kBlocksPerWidening<format>;
  const int64_t code_bytes_of_tile = task.k / kBlockK * kBlockBytes;
  const int64_t groups = groups_of(task);
  const uint8_t* row = task.rows + m * task.row_bytes;
  __m256 total[streams][2];
  for (auto& t : total) t[0] = t[1] = _mm256_setzero_ps();
  const int64_t parts = parts_per_group(task.group);
  const i32* sums = part_sums(task, m);
  for (int64_t p = 0; p < groups * parts; ++p) {
    const int64_t g = p / parts;
    const BlockRange range = part_blocks(task, g, p % parts);
    WideSums wide[streams] = {};
    for (int64_t b = range.begin; b < range.end; b += widening) {
      const int64_t end = b + widening < range.end ? b + widening : range.end;
      for (int i = 0; i < streams; ++i) {
        add_blocks<format>(task.codes + (tile_begin + i * stride) * code_bytes_of_tile, row, b, end,
                           wide[i]);
      }
    }
    for (int i = 0; i < streams; ++i) {
      const uint8_t* scales =
          task.scales + ((tile_begin + i * stride) * groups + g) * kScaleBytes<format>;
      for (int half = 0; half < 2; ++half) {
        const __m256i* digit = wide[i].digit[half];
        const __m256i high = _mm256_add_epi32(digit[1], _mm256_slli_epi32(digit[2], kDigitBits));
        const __m256i exact =
            _mm256_sub_epi32(_mm256_add_epi32(digit[0], _mm256_slli_epi32(high, kDigitBits)),
                             _mm256_set1_epi32(Code::offset * sums[p]));
        const __m256 scale =
            _mm256_mul_ps(load_scales<format>(scales, half), _mm256_set1_ps(Code::unit * 0x1p-9f));
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

template <Format format>
void run_format(const GemmTask& task, int64_t tile_begin, int64_t tile_end) {
  constexpr int streams = 4;
  const int64_t stride = (tile_end - tile_begin) / streams;
  for (int64_t m = 0; m < task.m; ++m) {
    for (int64_t t = 0; t < stride; ++t) {
      run_tiles<format, streams>(task, m, tile_begin + t, stride);
    }
    for (int64_t t = tile_begin + stride * streams; t < tile_end; ++t) {
      run_tiles<format, 1>(task, m, t, 0);
    }
  }
}

}  // namespace

void avx2_decode(const GemmTask& task, int64_t tile_begin, int64_t tile_end, void*) {
  if (task.format == Format::kInt4) {
    run_format<Format::kInt4>(task, tile_begin, tile_end);
  } else {
    run_format<Format::kMxfp4>(task, tile_begin, tile_end);
  }
}

}  // namespace radiance::cpu
