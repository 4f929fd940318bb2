// Few rows: codes go from memory to registers, are unpacked there once for up to eight rows, and
// meet the activations as broadcast memory operands of vdpbf16ps.
//
// Per 64 bytes of codes: 3 shifts and 4 permutes, then 4 dots a row. The group's sum is kept in its
// own registers and joins the running sum with one FMA a group.
//
// A row's sums are made in the same order whatever m is, here and in prefill.cpp: results do not
// depend on the batch.
#include "kernels/cpu/avx512/kernels.hpp"
#include "kernels/cpu/avx512/row_passes.hpp"
#include "kernels/cpu/avx512/tile.hpp"

namespace radiance::cpu {
namespace {

// `streams` tiles, tile_begin + i * stride for i < streams, read side by side: one thread needs
// several sequential streams to reach the memory's rate.
template <Format format, int rows, int streams>
void run_tiles(const GemmTask& task, int64_t m0, int64_t tile_begin, int64_t stride) {
  const __m512i table = load_code_table<format>();
  const int64_t code_bytes = task.k / kBlockK * kBlockBytes;
  const int64_t groups = groups_of(task);
  const uint8_t* codes[streams];
  const uint8_t* scales[streams];
  for (int i = 0; i < streams; ++i) {
    const int64_t tile = tile_begin + i * stride;
    codes[i] = task.codes + tile * code_bytes;
    scales[i] = task.scales + tile * groups * kScaleBytes<format>;
  }
  const uint8_t* x[rows];
  for (int r = 0; r < rows; ++r) x[r] = task.rows + (m0 + r) * task.row_bytes;

  __m512 total[rows][streams];
  for (int r = 0; r < rows; ++r) {
    for (int i = 0; i < streams; ++i) total[r][i] = _mm512_setzero_ps();
  }
  for (int64_t g = 0; g < groups; ++g) {
    const BlockRange range = group_blocks(task, g);
    __m512 sum[rows][streams];
    for (int r = 0; r < rows; ++r) {
      for (int i = 0; i < streams; ++i) sum[r][i] = _mm512_setzero_ps();
    }
    for (int64_t b = range.begin; b < range.end; ++b) {
      __m512i words[streams];
      for (int i = 0; i < streams; ++i) {
        words[i] = _mm512_loadu_si512(codes[i] + b * kBlockBytes);
        _mm_prefetch(codes[i] + b * kBlockBytes + 1024, _MM_HINT_T0);
      }
      const auto step = [&]<int j>() __attribute__((always_inline)) {
        __m512bh w[streams];
        for (int i = 0; i < streams; ++i) w[i] = unpack<j>(table, words[i]);
        for (int r = 0; r < rows; ++r) {
          const __m512bh pair = (__m512bh)_mm512_set1_epi32(
              *reinterpret_cast<const int32_t*>(x[r] + b * (2 * kBlockK) + 4 * j));
          for (int i = 0; i < streams; ++i) sum[r][i] = _mm512_dpbf16_ps(sum[r][i], w[i], pair);
        }
      };
      step.template operator()<0>();
      step.template operator()<1>();
      step.template operator()<2>();
      step.template operator()<3>();
    }
    for (int i = 0; i < streams; ++i) {
      const __m512 scale = load_scales<format>(scales[i] + g * kScaleBytes<format>);
      for (int r = 0; r < rows; ++r) total[r][i] = _mm512_fmadd_ps(sum[r][i], scale, total[r][i]);
    }
  }
  for (int r = 0; r < rows; ++r) {
    for (int i = 0; i < streams; ++i) {
      store_row(task, m0 + r, (tile_begin + i * stride) * kTileN, total[r][i]);
    }
  }
}

struct Decode {
  static constexpr int kMaxRows = 8;
  // rows * streams sums must leave registers for the unpacked codes, and be at least about 8 to
  // cover the dot's latency.
  static constexpr int streams_of(int rows) { return rows == 1 ? 8 : rows <= 4 ? 4 : 3; }
  template <Format format, int rows, int streams>
  static void run(const GemmTask& task, int64_t m0, int64_t tile_begin, int64_t stride) {
    run_tiles<format, rows, streams>(task, m0, tile_begin, stride);
  }
};

}  // namespace

void avx512_decode(const GemmTask& task, int64_t tile_begin, int64_t tile_end, void*) {
  run_passes<Decode>(task, tile_begin, tile_end);
}

}  // namespace radiance::cpu
