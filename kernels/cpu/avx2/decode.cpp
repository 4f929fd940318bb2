// One or two rows: exact integer group sums from byte multiply-adds.
//
// Converting codes to float takes 4 instructions for 8 weights before the first FMA, too slow for
// the stream. Instead the activations are split into three signed digits (row_digits.hpp) and met
// with the codes as they stand, unsigned: per 64 bytes of codes 6 instructions of unpack and 24 of
// vpmaddubsw + vpaddw. The zero point comes back through the digits' own group sums.
//
// Digits reach 128 and offset codes 15 (int4) or 24 (e2m1 in halves, plus 12), so a pair is at most
// 3840 or 6144 and int16 holds 8 or 5 pairs: sums are widened after 8 or 4.
#include "kernels/cpu/avx2/kernels.hpp"
#include "kernels/cpu/avx2/tile.hpp"
#include "kernels/cpu/row_digits.hpp"
#include "numerics/e2m1.hpp"

namespace radiance::cpu {
namespace {

template <Format format>
struct Codes;

template <>
struct Codes<Format::kInt4> {
  static constexpr i32 offset = 8;
  static constexpr float unit = 1.0f;
  static constexpr int blocks_per_widening = 4;
  static inline __m256i values(__m256i nibbles) { return nibbles; }
};

// e2m1 in halves, plus 12: 0..24.
template <>
struct Codes<Format::kMxfp4> {
  static constexpr i32 offset = 12;
  static constexpr float unit = 0.5f;
  static constexpr int blocks_per_widening = 2;
  struct alignas(16) Table {
    u8 byte[16];
  };
  static constexpr Table make_table() {
    Table table{};
    for (u32 c = 0; c < 16; ++c) {
      table.byte[c] = static_cast<u8>(e2m1_to_f32(static_cast<u8>(c)) * 2.0f + 12.0f);
    }
    return table;
  }
  static inline __m256i values(__m256i nibbles) {
    static constexpr Table table = make_table();
    const __m256i lookup =
        _mm256_broadcastsi128_si256(_mm_load_si128(reinterpret_cast<const __m128i*>(table.byte)));
    return _mm256_shuffle_epi8(lookup, nibbles);
  }
};

struct DigitSums {
  i32 digit[kDigits];
};

// The sums of a row's digits over each group, to take the codes' offset back.
void sum_digits(const GemmTask& task, const uint8_t* row, DigitSums* sums) {
  const int64_t groups = groups_of(task);
  for (int64_t g = 0; g < groups; ++g) {
    const BlockRange range = group_blocks(task, g);
    DigitSums total{};
    for (int64_t b = range.begin; b < range.end; ++b) {
      const auto* digits = reinterpret_cast<const i8*>(row + b * kDigitBlockBytes);
      for (int d = 0; d < kDigits; ++d) {
        for (int i = 0; i < 8; ++i) total.digit[d] += digits[8 * d + i];
      }
    }
    sums[g] = total;
  }
}

template <Format format>
void run_tile(const GemmTask& task, int64_t m, int64_t tile, const DigitSums* digit_sums) {
  using Code = Codes<format>;
  const int64_t groups = groups_of(task);
  const uint8_t* codes = task.codes + tile * (task.k / kBlockK) * kBlockBytes;
  const uint8_t* scales = task.scales + tile * groups * kScaleBytes<format>;
  const uint8_t* row = task.rows + m * task.row_bytes;
  const __m256i mask = _mm256_set1_epi8(0x0f);
  const __m256i ones = _mm256_set1_epi16(1);
  __m256 total[2] = {_mm256_setzero_ps(), _mm256_setzero_ps()};

  for (int64_t g = 0; g < groups; ++g) {
    const BlockRange range = group_blocks(task, g);
    __m256i wide[kDigits][2];
    for (auto& digit : wide) digit[0] = digit[1] = _mm256_setzero_si256();
    for (int64_t b0 = range.begin; b0 < range.end; b0 += Code::blocks_per_widening) {
      const int64_t b1 =
          b0 + Code::blocks_per_widening < range.end ? b0 + Code::blocks_per_widening : range.end;
      __m256i narrow[kDigits][2];
      for (auto& digit : narrow) digit[0] = digit[1] = _mm256_setzero_si256();
      for (int64_t b = b0; b < b1; ++b) {
        _mm_prefetch(codes + b * kBlockBytes + 2048, _MM_HINT_T0);
        const uint8_t* digits = row + b * kDigitBlockBytes;
        for (int half = 0; half < 2; ++half) {
          const __m256i words = _mm256_loadu_si256(
              reinterpret_cast<const __m256i*>(codes + b * kBlockBytes + 32 * half));
          const __m256i low = Code::values(_mm256_and_si256(words, mask));
          const __m256i high = Code::values(_mm256_and_si256(_mm256_srli_epi16(words, 4), mask));
          for (int d = 0; d < kDigits; ++d) {
            const auto* four = reinterpret_cast<const i32*>(digits + 8 * d);
            const __m256i a = _mm256_maddubs_epi16(low, _mm256_set1_epi32(four[0]));
            const __m256i c = _mm256_maddubs_epi16(high, _mm256_set1_epi32(four[1]));
            narrow[d][half] = _mm256_add_epi16(narrow[d][half], _mm256_add_epi16(a, c));
          }
        }
      }
      for (int d = 0; d < kDigits; ++d) {
        for (int half = 0; half < 2; ++half) {
          wide[d][half] = _mm256_add_epi32(wide[d][half], _mm256_madd_epi16(narrow[d][half], ones));
        }
      }
    }
    for (int half = 0; half < 2; ++half) {
      // Each digit's sum is an exact integer below 2^24 for groups up to 4096.
      __m256 sum = _mm256_setzero_ps();
      for (int d = kDigits - 1; d >= 0; --d) {
        const __m256i exact = _mm256_sub_epi32(
            wide[d][half], _mm256_set1_epi32(Code::offset * digit_sums[g].digit[d]));
        sum = _mm256_fmadd_ps(sum, _mm256_set1_ps(256.0f), _mm256_cvtepi32_ps(exact));
      }
      const __m256 scale =
          _mm256_mul_ps(load_scales<format>(scales + g * kScaleBytes<format>, half),
                        _mm256_set1_ps(Code::unit * 0x1p-9f));
      total[half] = _mm256_fmadd_ps(sum, scale, total[half]);
    }
  }
  for (int half = 0; half < 2; ++half) store_row(task, m, tile * kTileN + 8 * half, total[half]);
}

template <Format format>
void run_format(const GemmTask& task, int64_t tile_begin, int64_t tile_end, DigitSums* sums) {
  for (int64_t m = 0; m < task.m; ++m) {
    sum_digits(task, task.rows + m * task.row_bytes, sums + m * groups_of(task));
  }
  for (int64_t tile = tile_begin; tile < tile_end; ++tile) {
    for (int64_t m = 0; m < task.m; ++m) {
      run_tile<format>(task, m, tile, sums + m * groups_of(task));
    }
  }
}

}  // namespace

void avx2_decode(const GemmTask& task, int64_t tile_begin, int64_t tile_end, void* scratch) {
  auto* sums = static_cast<DigitSums*>(scratch);
  if (task.format == Format::kInt4) {
    run_format<Format::kInt4>(task, tile_begin, tile_end, sums);
  } else {
    run_format<Format::kMxfp4>(task, tile_begin, tile_end, sums);
  }
}

}  // namespace radiance::cpu
