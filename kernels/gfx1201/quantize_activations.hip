// Activations to e4m3 with a scale a row: one workgroup a row, which it reads once.
//
// Both divisions are true ones (the compiler's div_scale, div_fmas, div_fixup), so that bytes and
// scales are those of every other target. The conversion needs no saturation: a quotient is at most
// 448 (1 + 2^-23), which rounds to 448.
#include "kernels/gfx1201/epilogue.hip.hpp"
#include "kernels/gfx1201/lanes.hip.hpp"
#include "numerics/e4m3.hpp"

namespace radiance::gfx1201 {
namespace {

constexpr int kKept = 8;  // chunks of 8 elements a thread keeps: rows up to 16384 are read once
constexpr u32 kInfinity = 0x7f800000u;
constexpr u32 kNan = 0x7fc00000u;

struct Chunk {
  float value[8];
};

// Elements 8 i .. 8 i + 7 of a row; zero past k.
RADIANCE_DEVICE Chunk load_chunk(const void* row, int type, i64 k, i64 i, bool wide) {
  Chunk chunk;
  if (!wide) {
#pragma unroll
    for (int e = 0; e < 8; ++e) {
      chunk.value[e] = 8 * i + e < k ? load_element(row, type, 8 * i + e) : 0.0f;
    }
    return chunk;
  }
  if (type == kF32) {
    const f32x4 low = static_cast<const f32x4*>(row)[2 * i];
    const f32x4 high = static_cast<const f32x4*>(row)[2 * i + 1];
#pragma unroll
    for (int e = 0; e < 4; ++e) {
      chunk.value[e] = low[e];
      chunk.value[4 + e] = high[e];
    }
    return chunk;
  }
  const u32x4 words = static_cast<const u32x4*>(row)[i];
#pragma unroll
  for (int e = 0; e < 8; ++e) {
    const u16 bits = static_cast<u16>(words[e / 2] >> (e % 2 * 16));
    chunk.value[e] =
        type == kBf16 ? bf16_to_f32(bits) : static_cast<float>(__builtin_bit_cast(_Float16, bits));
  }
  return chunk;
}

RADIANCE_DEVICE u32 chunk_max(const Chunk& chunk, u32 largest) {
#pragma unroll
  for (int e = 0; e < 8; ++e) {
    const u32 magnitude = float_bits(chunk.value[e]) & 0x7fffffffu;
    largest = magnitude > largest ? magnitude : largest;
  }
  return largest;
}

RADIANCE_DEVICE void store_chunk(const Chunk& chunk, float scale, u8* row, i64 k, i64 i,
                                 bool wide) {
  u32x2 words;
#pragma unroll
  for (int w = 0; w < 2; ++w) {
    const float* v = chunk.value + 4 * w;
    i32 word = __builtin_amdgcn_cvt_pk_fp8_f32(v[0] / scale, v[1] / scale, 0, false);
    word = __builtin_amdgcn_cvt_pk_fp8_f32(v[2] / scale, v[3] / scale, word, true);
    words[w] = static_cast<u32>(word);
  }
  if (wide) {
    reinterpret_cast<u32x2*>(row)[i] = words;
    return;
  }
#pragma unroll
  for (int e = 0; e < 8; ++e) {
    if (8 * i + e < k) row[8 * i + e] = static_cast<u8>(words[e / 4] >> (e % 4 * 8));
  }
}

// The largest magnitude of a row, as bits, in every thread.
RADIANCE_DEVICE u32 workgroup_max(u32 largest) {
  RADIANCE_SHARED static u32 wave_largest[kQuantizeThreads / kWave];
  largest = wave_max(largest);
  if (thread_index() % kWave == 0) wave_largest[wave_index()] = largest;
  lds_barrier();
#pragma unroll
  for (int w = 0; w < kQuantizeThreads / kWave; ++w) {
    largest = wave_largest[w] > largest ? wave_largest[w] : largest;
  }
  return largest;
}

}  // namespace

RADIANCE_KERNEL(kQuantizeThreads) void quantize_activations(QuantizeParams p) {
  const i64 row = block_x();
  const u8* x = static_cast<const u8*>(p.x) + row * p.ldx * (p.x_type == kF32 ? 4 : 2);
  u8* xq = p.xq + row * p.k;
  const bool wide_in = reinterpret_cast<u64>(x) % 16 == 0 && p.k % 8 == 0;
  const bool wide_out = reinterpret_cast<u64>(xq) % 8 == 0 && p.k % 8 == 0;
  const i64 chunks = (p.k + 7) / 8;
  const i64 first = thread_index();

  Chunk kept[kKept];
  u32 largest = 0;
#pragma unroll
  for (int c = 0; c < kKept; ++c) {
    const i64 i = first + c * kQuantizeThreads;
    if (i < chunks) {
      kept[c] = load_chunk(x, p.x_type, p.k, i, wide_in);
      largest = chunk_max(kept[c], largest);
    }
  }
  for (i64 i = first + kKept * kQuantizeThreads; i < chunks; i += kQuantizeThreads) {
    largest = chunk_max(load_chunk(x, p.x_type, p.k, i, wide_in), largest);
  }
  largest = workgroup_max(largest);

  if (largest >= kInfinity) {
    if (thread_index() == 0) p.scales[row] = float_from_bits(kNan);
    for (i64 i = first; i < p.k; i += kQuantizeThreads) xq[i] = kE4m3Nan;
    return;
  }
  const float scale = activation_scale(float_from_bits(largest));
  if (thread_index() == 0) p.scales[row] = scale;
#pragma unroll
  for (int c = 0; c < kKept; ++c) {
    const i64 i = first + c * kQuantizeThreads;
    if (i < chunks) store_chunk(kept[c], scale, xq, p.k, i, wide_out);
  }
  for (i64 i = first + kKept * kQuantizeThreads; i < chunks; i += kQuantizeThreads) {
    store_chunk(load_chunk(x, p.x_type, p.k, i, wide_in), scale, xq, p.k, i, wide_out);
  }
}

// One wave a row and group: the exact sum in units of 2^-9, rounded once.
RADIANCE_KERNEL(kWave) void row_sums(RowSumParams p) {
  RADIANCE_SHARED static i64 lane_sum[kWave];
  const i64 row = static_cast<i64>(block_x()) / p.groups,
            g = static_cast<i64>(block_x()) % p.groups;
  const i64 begin = g * p.group;
  const i64 end = begin + p.group < p.k ? begin + p.group : p.k;
  i64 sum = 0;
  u32 nan = 0;
  for (i64 i = begin + thread_index(); i < end; i += kWave) {
    const u8 byte = p.xq[row * p.k + i];
    const bool bad = (byte & 0x7f) == kE4m3Nan;
    nan |= bad ? 1u : 0u;
    sum += bad ? 0 : static_cast<i32>(e4m3_to_f32(byte) * 512.0f);
  }
  lane_sum[thread_index()] = sum;
  nan = wave_max(nan);
  lds_barrier();
  if (thread_index() != 0) return;
#pragma unroll 1
  for (int lane = 1; lane < kWave; ++lane) sum += lane_sum[lane];
  p.sums[block_x()] = nan != 0 ? float_from_bits(kNan) : static_cast<float>(sum) * 0x1p-9f;
}

}  // namespace radiance::gfx1201
