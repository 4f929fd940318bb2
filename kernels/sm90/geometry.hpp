// Shapes that host and device agree on: the packed layout and the kernels' tiles.
//
// A unit is 64 features by a slab of 128 k: the codes, then the scales of the slab, in one run of
// bytes, so that one bulk copy brings it. A tile's units follow each other along k; tiles follow
// each other along n.
//
//   codes  [2][128 threads][16 bytes]: thread t of a warpgroup takes 16 bytes of each half. Its
//   word i
//          of half h holds, for the k-step 2h + i / 2 (32 k) of wgmma's A fragment, the registers
//          a[2 (i % 2)] and a[2 (i % 2) + 1]: byte b of the word has both codes of byte b.
//   scales group a multiple of 128: fp16 [64]; 64: fp16 [2][64]; 32: fp16 [4][64]; MXFP4: byte
//   [4][64]
#pragma once

#include <cstdint>

#include "kernels/general_params.hpp"
#include "numerics/host_device.hpp"

namespace radiance::sm90 {

constexpr uint32_t kLayoutVersion = 1;

constexpr int kTileN = 64;
constexpr int kSlabK = 128;
constexpr int kCodeBytes = kTileN * kSlabK / 2;

enum class ScaleKind : int {
  kSlab,  // one fp16 a slab (and feature)
  kHalf,  // two
  kStep,  // four: groups of 32
  kE8m0,  // four bytes: MXFP4
};

RADIANCE_HOST_DEVICE constexpr int scales_per_slab(ScaleKind kind) {
  return kind == ScaleKind::kSlab ? 1 : kind == ScaleKind::kHalf ? 2 : 4;
}
RADIANCE_HOST_DEVICE constexpr int scale_bytes(ScaleKind kind) {
  return kTileN * scales_per_slab(kind) * (kind == ScaleKind::kE8m0 ? 1 : 2);
}
RADIANCE_HOST_DEVICE constexpr int unit_bytes(ScaleKind kind) {
  return kCodeBytes + scale_bytes(kind);
}

struct QuantizeParams {
  const void* x;
  uint8_t* xq;
  float* scales;
  int64_t k, ldx;
  int32_t x_type;  // radiance_dtype
};

// What a kernel is told, beside the tensor map of xq.
struct GemmParams {
  const uint8_t* units;
  const float* x_scales;
  void* y;
  const void* bias;
  float* partials;     // decode: two slots a block; prefill: one
  uint32_t* counters;  // decode: one a tile of 64 features; prefill: two a shared tile; zero
                       // between calls
  int64_t ldy;
  int32_t m, n;
  int32_t slabs;
  // prefill: tiles along m and n, how many of the first are shared among all blocks, how many along
  // m the columns of tiles run through at once, and the tiles of such a band
  int32_t tiles_m, tiles_n, shared_tiles, band, band_tiles;
  int32_t copies_out;         // prefill: y has a tensor map
  int32_t y_type, bias_type;  // radiance_dtype; bias null if none
  // decode: the whole operation where x is not null. `quantized` counts the rows done in its low
  // half and the blocks that have seen them all in its high half; zero between calls.
  QuantizeParams quantize;
  uint32_t* quantized;
  int32_t trigger;  // decode: slabs left to copy when the next kernel is let in; -1: all
};

struct RowSumParams {
  const uint8_t* xq;
  float* sums;
  int64_t k, group, groups;
};

constexpr int kSharedBytes = 227 * 1024;  // of a block that has a multiprocessor to itself

// decode: warpgroups of 64 features by a slab at a time, producer warps, and a warp that watches
// the tokens and announces sums. The warpgroups take `tile_units` units side by side (the same
// slab) and several slabs in turn: few tokens want narrow tiles, which leave little to share among
// blocks; many tokens want wide ones, which bring a token's slab once for more features.
//
// Up to 16 tokens a block takes half a multiprocessor: the next kernel's block moves in beside it
// and fills its stages meanwhile. More tokens need more registers than that leaves: the multiplying
// warps of such a block take them from its others.
constexpr int kDecodeProducers = 2;  // warps
constexpr int kDecodeBarrierBytes = 1024;
constexpr int kDecodeProducerRegisters = 32;

RADIANCE_HOST_DEVICE constexpr int decode_warpgroups(int tokens) { return tokens <= 16 ? 3 : 4; }
RADIANCE_HOST_DEVICE constexpr int decode_threads(int tokens) {
  return 128 * decode_warpgroups(tokens) + (tokens <= 16 ? 96 : 128);
}
// 0: as the kernel was started.
RADIANCE_HOST_DEVICE constexpr int decode_consumer_registers(int tokens) {
  return tokens <= 16 ? 0 : 112;
}
RADIANCE_HOST_DEVICE constexpr int decode_blocks(int tokens) { return tokens <= 16 ? 2 : 1; }
RADIANCE_HOST_DEVICE constexpr int decode_shared_bytes(int tokens) {
  return decode_blocks(tokens) == 2 ? 113 * 1024 : kSharedBytes;
}
RADIANCE_HOST_DEVICE constexpr int decode_tile_units(int tokens) { return tokens <= 16 ? 1 : 2; }
RADIANCE_HOST_DEVICE constexpr int decode_stage_bytes(ScaleKind kind, int tokens) {
  return tokens * kSlabK + decode_tile_units(tokens) * unit_bytes(kind);
}
// Sums that warpgroups of one tile hand to the first of them.
RADIANCE_HOST_DEVICE constexpr int decode_reduce_bytes(int tokens) {
  return (decode_warpgroups(tokens) - decode_tile_units(tokens)) * kTileN * tokens * 4;
}
// A multiple of the producers: a stage that two of them fill in turn could be waited for a phase
// too early, which hung 16 tokens at 16 stages.
RADIANCE_HOST_DEVICE constexpr int decode_stages(ScaleKind kind, int tokens) {
  return (decode_shared_bytes(tokens) - kDecodeBarrierBytes - decode_reduce_bytes(tokens)) /
         decode_stage_bytes(kind, tokens) / kDecodeProducers * kDecodeProducers;
}

// prefill: two warpgroups of 64 features each by 128 or 256 tokens, one block a multiprocessor.
constexpr int kPrefillWarpgroups = 2;
constexpr int kPrefillN = kPrefillWarpgroups * kTileN;
constexpr int kPrefillThreads = 128 * kPrefillWarpgroups + 128;
constexpr int kPrefillControlBytes = 1024;

// Outputs of 16 bits leave through shared memory, 128 tokens of a warpgroup's features at a time.
constexpr int kPrefillOutputTokens = 128;
constexpr int kPrefillOutputBytes = kPrefillOutputTokens * kTileN * 2;

RADIANCE_HOST_DEVICE constexpr int prefill_units_bytes(ScaleKind kind) {
  return kPrefillWarpgroups * unit_bytes(kind);
}
RADIANCE_HOST_DEVICE constexpr int prefill_stage_bytes(ScaleKind kind, int tokens) {
  return tokens * kSlabK + prefill_units_bytes(kind);
}
// What is left beside `stages` of them for outputs, which begin at a multiple of 1024.
RADIANCE_HOST_DEVICE constexpr int prefill_room(ScaleKind kind, int tokens, int stages) {
  return (kSharedBytes - kPrefillControlBytes - stages * prefill_stage_bytes(kind, tokens)) / 1024 *
         1024;
}
// Eight where they fit: tiles of 128 tokens have less in flight, and wait for memory.
RADIANCE_HOST_DEVICE constexpr int prefill_stages(ScaleKind kind, int tokens) {
  return prefill_room(kind, tokens, 8) >= kPrefillWarpgroups * kPrefillOutputBytes ? 8 : 4;
}
// As many as there is room for, up to the tile's own.
RADIANCE_HOST_DEVICE constexpr int prefill_outputs(ScaleKind kind, int tokens) {
  const int fit = prefill_room(kind, tokens, prefill_stages(kind, tokens)) /
                  (kPrefillWarpgroups * kPrefillOutputBytes);
  return fit < tokens / kPrefillOutputTokens ? fit : tokens / kPrefillOutputTokens;
}

}  // namespace radiance::sm90
