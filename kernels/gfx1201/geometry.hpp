// Shapes that host and device agree on: the packed layout, the kernels' tiles, their parameters.
//
// Codes are packed once into the order in which the matrix unit wants its B operand. A tile is 16
// features by a slab of 128 k, 1024 bytes: [half 2][lane 32][16 bytes], so that a wave brings it
// with two loads of 16 bytes a lane, each of them one run of 512 bytes. Lane l holds feature l %
// 16; its 16 bytes of a half are four words, one for each step (16 k) of the matrix unit. Tiles
// follow each other along k, then along n:  codes [n / 16][slab][1024].
//
// In a step the unit pairs byte j of lane half h of both operands, whatever k that is. Ours is
// fragment_k(): two steps take 32 k of which a lane half holds 16 consecutive ones, so that rows of
// activations need no shuffle and move 16 bytes a lane too.
//
// A nibble holds v = code - 8 as a zigzag code, v < 0 ? 2 (-v - 1) + 1 : 2 v: bit 0 is the sign,
// bits 1..3 a magnitude, see unpack.hip.hpp. The even nibbles of a word are the step's bytes 0..3,
// the odd ones 4..7.
//
// Scales: fp16 [n / 16][slab][16 features][folds]. folds is 1 where a group is a multiple of a
// slab, else the groups of a slab: 2 of 64, 4 of 32. Features past n have value and scale 0.
#pragma once

#include "kernels/general_params.hpp"
#include "numerics/host_device.hpp"

namespace radiance::gfx1201 {

using i64 = __INT64_TYPE__;

constexpr u32 kLayoutVersion = 1;

constexpr int kTileN = 16;
constexpr int kTileM = 16;
constexpr int kSlabK = 128;
constexpr int kStepK = 16;
constexpr int kSteps = kSlabK / kStepK;
constexpr int kTileBytes = kTileN * kSlabK / 2;

constexpr int kWave = 32;
constexpr int kWaves = 8;
constexpr int kThreads = kWave * kWaves;

// Which k of a slab the byte j (0..7) of lane half h is in a step.
RADIANCE_HOST_DEVICE constexpr int fragment_k(int step, int half, int j) {
  return step / 2 * 32 + half * 16 + step % 2 * 8 + j;
}

// Word of a tile (of 256) that holds feature n % 16 of a step and lane half.
RADIANCE_HOST_DEVICE constexpr int tile_word(int n, int step, int half) {
  return (step / 4 * kWave + half * 16 + n) * 4 + step % 4;
}

RADIANCE_HOST_DEVICE constexpr u32 zigzag(int value) {
  return value < 0 ? static_cast<u32>(-value - 1) * 2 + 1 : static_cast<u32>(value) * 2;
}
RADIANCE_HOST_DEVICE constexpr int from_zigzag(u32 nibble) {
  return (nibble & 1u) != 0 ? -static_cast<int>(nibble >> 1) - 1 : static_cast<int>(nibble >> 1);
}

// What a matrix kernel is told.
struct GemmParams {
  const u8* codes;
  const u16* scales;
  const u8* xq;  // [m][slabs * 128], aligned to 16
  const float* x_scales;
  void* y;
  const void* bias;  // null if none
  float* partials;   // split-K: [block of features][split][sums of a block in register order]
  u32* counters;     // split-K: one a block of features, zero between calls
  i64 ldy;
  i32 m, n;
  i32 slabs;
  i32 tiles;              // of 16 features
  i32 parts;              // split-K
  i32 y_type, bias_type;  // radiance_dtype
};

struct QuantizeParams {
  const void* x;
  u8* xq;
  float* scales;
  i64 k, ldx;
  i32 x_type;  // radiance_dtype
};

struct RowSumParams {
  const u8* xq;
  float* sums;
  i64 k, group, groups;
};

struct StreamParams {
  const void* data;
  i64 chunks;  // of 16 bytes
  u32* never;
};

struct PeakParams {
  i64 iterations;
  float* never;
};
// Multiplications of 16 x 16 x 16 that a wave does in an iteration.
constexpr int kPeakChains = 8;

constexpr int kStreamThreads = 256;
constexpr int kQuantizeThreads = 512;
constexpr int kGeneralThreads = 128;  // one a feature
constexpr int kGeneralRows = 8;

// ---- decode: up to 64 rows, a wave takes one tile of 16 features and all rows ----

constexpr int kDecodeN = kWaves * kTileN;  // features of a workgroup
constexpr int kMaxRowTiles = 4;

// What of the way in which these kernels load and wait can be undone to see what it gives.
struct PipelineAblation {
  bool whole_barriers = false;    // arrive and wait at once
  bool one_buffer = false;        // decode: one LDS buffer, two barriers a slab
  bool transposed_loads = false;  // decode: codes by global_load_tr; results are wrong
};

struct DecodeConfig {
  int row_tiles = 1;   // of 16 rows
  bool split = false;  // K is divided among gridDim.y workgroups
  int folds = 1;       // scales of a slab and feature
  PipelineAblation ablation = {};
};

// Sums that one workgroup hands to the last of its split.
RADIANCE_HOST_DEVICE constexpr int decode_partial_floats(int row_tiles) {
  return row_tiles * kTileM * kDecodeN;
}

// ---- prefill: 256 rows by 64 or 128 features a workgroup, a wave 64 rows of them ----

constexpr int kPrefillM = 256;
constexpr int kPrefillRowWaves = 4;  // waves along the rows
constexpr int kPrefillColumnWaves = 2;
constexpr int kPrefillRowTiles = kPrefillM / kTileM / kPrefillRowWaves;  // of a wave

struct PrefillConfig {
  int column_tiles = 2;  // of a wave
  int stage_k = 128;     // k in LDS at a time, 64 or 128
  int folds = 1;         // scales of a slab and feature
  PipelineAblation ablation = {};
};

RADIANCE_HOST_DEVICE constexpr int prefill_n(int column_tiles) {
  return kPrefillColumnWaves * column_tiles * kTileN;
}

// ---- the kernels before these, as the project's log left them: both operands row by row in LDS,
// weights unpacked by table on the way there. They are what later ones are compared with, and what
// a device runs whose matrix unit flushes e4m3 subnormals. ----

constexpr int kLdsPadding = 8;  // bytes behind a row

// What can be left out or added to see what it costs. With any of the first three the results are
// wrong.
struct Ablation {
  bool no_unpack = false, no_scale = false;
  bool no_lds = false;    // weights go from the unpack's registers to the matrix unit
  bool priority = false;  // s_setprio around the multiplication
  bool prefetch = false;  // s_prefetch_data of the next slab's codes
  bool register_prefetch =
      false;                // the next slab's loads are under way while this one is multiplied
  bool cut_bf16 = false;    // bfloat16 output without rounding
  bool predicate = false;   // rows and features past the end are not loaded, instead of the last's
  bool late_scale = false;  // scales are loaded after the barrier, where they are used
  // Prefill: a weight's fragment is read from LDS once for each row tile; no block takes the
  // epilogue for whole ones.
  bool reread_weights = false, ragged_epilogue = false;
};

struct DecodeBaselineConfig {
  int row_tiles = 1;
  bool split = false;
  int staging_bytes = 8;  // of weights that a thread loads at once: 4, 8 or 16
  Ablation ablation = {};
};

struct PrefillBaselineConfig {
  int column_tiles = 2;     // of a wave
  bool group_fold = false;  // all tiles' sums of a group apart, folded once, not slab by slab
  Ablation ablation = {};
};

constexpr int kPrefillBaselineK = 64;

}  // namespace radiance::gfx1201
