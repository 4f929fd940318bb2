// A few rows: exact integer group sums from byte dot products.
//
// The activations stand as two signed digits (row_integers.hpp) and are met with the codes as they
// stand, unsigned: per 64 bytes of codes (128 weights) 3 instructions of unpack and 4 of vpdpbusd a
// row. bf16 takes 7 and 4 for the same, but a vdpbf16ps costs as much as four of them on processors
// that split it (measured on Sapphire Rapids: 1.2 against 4.8 a nanosecond).
#include "kernels/cpu/avx512/kernels.hpp"
#include "kernels/cpu/avx512/row_passes.hpp"
#include "kernels/cpu/avx512/tile.hpp"
#include "kernels/cpu/row_integers.hpp"

namespace radiance::cpu {
namespace {

template <Format format>
inline __m512i code_bytes(__m512i nibbles) {
  if constexpr (format == Format::kInt4) {
    return nibbles;
  } else {
    static constexpr ByteTable table = make_e2m1_bytes();
    return _mm512_shuffle_epi8(
        _mm512_broadcast_i32x4(_mm_load_si128(reinterpret_cast<const __m128i*>(table.byte))),
        nibbles);
  }
}

// sum += products of unsigned and signed bytes, four to a lane. Not the intrinsic: with it GCC 12
// copies two thirds of the sums before adding to them.
inline void add_products(__m512i& sum, __m512i codes, __m512i digits) {
  asm("vpdpbusd %2, %1, %0" : "+v"(sum) : "v"(codes), "v"(digits));
}

// What the rests of a row's part add to the sums of `streams` tiles, `at` being the tiles' codes.
template <Format format, int streams>
__attribute__((noinline)) void add_rests(const uint8_t* const* codes, const RowPart& part,
                                         const RowRest* rests, __m512i* sums) {
  const __m512i mask = _mm512_set1_epi8(0x0f);
  const __m128i shift = _mm_cvtsi32_si128(part.rest_shift);
  for (int i = 0; i < streams; ++i) {
    __m512i sum = _mm512_set1_epi32(-OffsetCodes<format>::offset * part.rest_sum);
    for (int j = 0; j < part.rest_count; ++j) {
      const RowRest& rest = rests[part.rest_begin + j];
      const __m512i words = _mm512_loadu_si512(codes[i] + rest.at / 2 * kBlockBytes);
      const __m512i nibbles =
          _mm512_and_si512(_mm512_srl_epi16(words, _mm_cvtsi32_si128(rest.at % 2 * 4)), mask);
      add_products(sum, code_bytes<format>(nibbles), _mm512_set1_epi32(rest.values));
    }
    sums[i] = _mm512_sll_epi32(sum, shift);
  }
}

// `streams` tiles, tile_begin + i * stride, read side by side.
template <Format format, int rows, int streams>
void run_tiles(const GemmTask& task, int64_t m0, int64_t tile_begin, int64_t stride) {
  using Code = OffsetCodes<format>;
  const int64_t code_bytes_of_tile = task.k / kBlockK * kBlockBytes;
  const int64_t groups = groups_of(task);
  const __m512i mask = _mm512_set1_epi8(0x0f);
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
  const uint8_t* row = task.rows + m0 * task.row_bytes;
  const int64_t parts = parts_per_group(task.group);
  const RowPart* row_part[rows];
  for (int r = 0; r < rows; ++r) row_part[r] = row_parts(task, m0 + r);
  for (int64_t p = 0; p < groups * parts; ++p) {
    const int64_t g = p / parts;
    const BlockRange range = part_blocks(task, g, p % parts);
    __m512i sum[rows][kDigits][streams];
#pragma GCC unroll 8
    for (int r = 0; r < rows; ++r) {
      const RowPart& part = row_part[r][p];
      if (part.rest_count != 0) {
        add_rests<format, streams>(codes, part, row_rests(task, m0 + r), rest[r]);
      }
    }
#pragma GCC unroll 8
    for (int r = 0; r < rows; ++r) {
      const __m512i back = _mm512_set1_epi32(-Code::offset * row_part[r][p].sum);
#pragma GCC unroll 8
      for (int i = 0; i < streams; ++i) {
        sum[r][0][i] = back;
        sum[r][1][i] = _mm512_setzero_si512();
      }
    }
    for (int64_t b = range.begin; b < range.end; ++b) {
      const uint8_t* block = row + b * kIntegerBlockBytes;
#pragma GCC unroll 2
      for (int half = 0; half < 2; ++half) {
        // Codes are read again for their second half: as words kept in registers they push sums
        // out.
        int64_t at = b * kBlockBytes;
        asm volatile("" : "+r"(at));
        __m512i unpacked[streams];
#pragma GCC unroll 8
        for (int i = 0; i < streams; ++i) {
          const __m512i words = _mm512_loadu_si512(codes[i] + at);
          if (half == 0) _mm_prefetch(codes[i] + at + 4096 / streams, _MM_HINT_T0);
          unpacked[i] = code_bytes<format>(
              _mm512_and_si512(half == 0 ? words : _mm512_srli_epi16(words, 4), mask));
        }
#pragma GCC unroll 8
        for (int r = 0; r < rows; ++r) {
#pragma GCC unroll 8
          for (int d = 0; d < kDigits; ++d) {
            const __m512i four = _mm512_set1_epi32(
                *reinterpret_cast<const i32*>(block + r * task.row_bytes + 8 * d + 4 * half));
#pragma GCC unroll 8
            for (int i = 0; i < streams; ++i) add_products(sum[r][d][i], unpacked[i], four);
          }
        }
      }
    }
#pragma GCC unroll 8
    for (int r = 0; r < rows; ++r) {
      const RowPart& part = row_part[r][p];
#pragma GCC unroll 8
      for (int i = 0; i < streams; ++i) {
        sum[r][0][i] = _mm512_add_epi32(sum[r][0][i], _mm512_slli_epi32(sum[r][1][i], kDigitBits));
      }
      float unit = part.unit;
      if (part.rest_count != 0) {
        unit = kIntegerUnit;
#pragma GCC unroll 8
        for (int i = 0; i < streams; ++i) {
          sum[r][0][i] = _mm512_add_epi32(
              _mm512_sll_epi32(sum[r][0][i], _mm_cvtsi32_si128(part.shift)), rest[r][i]);
        }
      }
#pragma GCC unroll 8
      for (int i = 0; i < streams; ++i) {
        const __m512 scale = _mm512_mul_ps(load_scales<format>(scales[i] + g * kScaleBytes<format>),
                                           _mm512_set1_ps(Code::unit * unit));
        total[r][i] = _mm512_fmadd_ps(_mm512_cvtepi32_ps(sum[r][0][i]), scale, total[r][i]);
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

struct DecodeVnni {
  static constexpr int kMaxRows = 4;
  // As many as their sums, two a row, have registers.
  static constexpr int streams_of(int rows) { return rows <= 2 ? 4 : 2; }
  template <Format format, int rows, int streams>
  static void run(const GemmTask& task, int64_t m0, int64_t tile_begin, int64_t stride) {
    run_tiles<format, rows, streams>(task, m0, tile_begin, stride);
  }
};

}  // namespace

void avx512_decode_vnni(const GemmTask& task, int64_t tile_begin, int64_t tile_end, void*) {
  run_passes<DecodeVnni>(task, tile_begin, tile_end);
}

}  // namespace radiance::cpu
