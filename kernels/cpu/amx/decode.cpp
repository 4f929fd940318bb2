// Up to 16 rows: one A tile, four tiles of features side by side.
//
// A slab is unpacked to bf16 in L1 and read back as B tiles: 8 vector instructions and 4 stores for
// 64 bytes of codes, whatever the rows. vdpbf16ps would take 4 dots a row for them, each of two
// clocks on both 512-bit ports of the processors that have AMX.
#include "kernels/cpu/amx/kernels.hpp"
#include "kernels/cpu/amx/tiles.hpp"

namespace radiance::cpu {
namespace {

constexpr int kStreams = 4;
constexpr int64_t kSlab = 128;  // k unpacked at a time: a group, or part of a longer one
constexpr int64_t kPanelBytes = kSlab / kStepK * kStepBytes;  // of one tile

struct alignas(64) Scratch {
  uint8_t panel[kStreams][kPanelBytes];
  float sums[kStreams][kTileRows * kTileN];
  float totals[kStreams][kTileRows * kTileN];
};

void configure(int64_t rows) {
  TileConfig config;
  for (int i = 0; i < 8; ++i) {
    config.row_bytes[i] = 64;
    config.rows[i] = static_cast<uint8_t>(i < 5 ? rows : 16);  // 0..3 C, 4 A, 5..7 B
  }
  load_config(config);
}

// sums of `steps` steps of a slab, added to what the C tiles hold.
template <int streams>
inline void multiply(const uint8_t* x, int64_t row_bytes, int64_t steps, Scratch& s) {
  for (int64_t step = 0; step < steps; ++step) {
    _tile_loadd(4, x + step * 2 * kStepK, row_bytes);
    _tile_loadd(5, s.panel[0] + step * kStepBytes, 64);
    _tile_dpbf16ps(0, 4, 5);
    if constexpr (streams > 1) {
      _tile_loadd(6, s.panel[1] + step * kStepBytes, 64);
      _tile_dpbf16ps(1, 4, 6);
      _tile_loadd(7, s.panel[2] + step * kStepBytes, 64);
      _tile_dpbf16ps(2, 4, 7);
      _tile_loadd(5, s.panel[3] + step * kStepBytes, 64);
      _tile_dpbf16ps(3, 4, 5);
    }
  }
}

// `streams` tiles, tile_begin + i * stride, read side by side.
template <Format format, int streams>
void run_tiles(const GemmTask& task, int64_t m0, int64_t rows, int64_t tile_begin, int64_t stride,
               Scratch& s) {
  const int64_t code_bytes = task.k / kBlockK * kBlockBytes;
  const int64_t groups = groups_of(task);
  const uint8_t* x = task.rows + m0 * task.row_bytes;
  for (int i = 0; i < streams; ++i) {
    for (int64_t r = 0; r < rows; ++r) {
      _mm512_store_ps(s.totals[i] + r * kTileN, _mm512_setzero_ps());
    }
  }
  for (int64_t g = 0; g < groups; ++g) {
    const BlockRange range = group_blocks(task, g);
    _tile_zero(0);
    if constexpr (streams > 1) {
      _tile_zero(1);
      _tile_zero(2);
      _tile_zero(3);
    }
    for (int64_t b = range.begin; b < range.end; b += kSlab / kBlockK) {
      const int64_t left = range.end - b;
      const int64_t blocks = left < kSlab / kBlockK ? left : kSlab / kBlockK;
      for (int i = 0; i < streams; ++i) {
        const uint8_t* codes =
            task.codes + (tile_begin + i * stride) * code_bytes + b * kBlockBytes;
        for (int64_t line = 0; line < blocks; ++line) {
          _mm_prefetch(codes + (kSlab / kBlockK + line) * kBlockBytes, _MM_HINT_T0);
        }
        unpack_steps<format>(codes, blocks, s.panel[i]);
      }
      multiply<streams>(x + b * 2 * kBlockK, task.row_bytes, steps_of(blocks), s);
    }
    _tile_stored(0, s.sums[0], 64);
    if constexpr (streams > 1) {
      _tile_stored(1, s.sums[1], 64);
      _tile_stored(2, s.sums[2], 64);
      _tile_stored(3, s.sums[3], 64);
    }
    for (int i = 0; i < streams; ++i) {
      const int64_t tile = tile_begin + i * stride;
      const __m512 scale =
          load_scales<format>(task.scales + (tile * groups + g) * kScaleBytes<format>);
      for (int64_t r = 0; r < rows; ++r) {
        float* total = s.totals[i] + r * kTileN;
        _mm512_store_ps(total, _mm512_fmadd_ps(_mm512_load_ps(s.sums[i] + r * kTileN), scale,
                                               _mm512_load_ps(total)));
      }
    }
  }
  for (int i = 0; i < streams; ++i) {
    for (int64_t r = 0; r < rows; ++r) {
      store_row(task, m0 + r, (tile_begin + i * stride) * kTileN,
                _mm512_load_ps(s.totals[i] + r * kTileN));
    }
  }
}

template <Format format>
void run_format(const GemmTask& task, int64_t tile_begin, int64_t tile_end, Scratch& scratch) {
  int64_t m0 = 0;
  for (int64_t passes = (task.m + kTileRows - 1) / kTileRows; passes > 0; --passes) {
    const int64_t rows = even_share(task.m - m0, passes);
    configure(rows);
    const int64_t stride = (tile_end - tile_begin) / kStreams;
    for (int64_t t = 0; t < stride; ++t) {
      run_tiles<format, kStreams>(task, m0, rows, tile_begin + t, stride, scratch);
    }
    for (int64_t t = tile_begin + stride * kStreams; t < tile_end; ++t) {
      run_tiles<format, 1>(task, m0, rows, t, 0, scratch);
    }
    m0 += rows;
  }
  _tile_release();
}

}  // namespace

int64_t amx_decode_scratch_bytes(int64_t, int64_t, int64_t) { return sizeof(Scratch); }

void amx_decode(const GemmTask& task, int64_t tile_begin, int64_t tile_end, void* scratch) {
  auto& s = *static_cast<Scratch*>(scratch);
  if (task.format == Format::kInt4) {
    run_format<Format::kInt4>(task, tile_begin, tile_end, s);
  } else {
    run_format<Format::kMxfp4>(task, tile_begin, tile_end, s);
  }
}

}  // namespace radiance::cpu
