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

constexpr int kKept = 8;  // chunks of 8 elements a thread keeps: rows up to 32768 are read once
constexpr u32 kInfinity = 0x7f800000u;
constexpr u32 kNan = 0x7fc00000u;

// A row's address is aligned to 16 bytes and its length a multiple of 8: chunks of 8 elements are
// loaded whole, else one by one.
template <int kType, bool kWide>
struct Row {
  static constexpr int kWords = kType == kF32 ? 8 : 4;
  struct Chunk {
    u32 word[kWords];

    RADIANCE_DEVICE float value(int e) const {
      if (kType == kF32) return float_from_bits(word[e]);
      const u16 bits = static_cast<u16>(word[e / 2] >> (e % 2 * 16));
      return kType == kBf16 ? bf16_to_f32(bits)
                            : static_cast<float>(__builtin_bit_cast(_Float16, bits));
    }
  };

  const void* x;
  i64 k;

  // Zero past k.
  RADIANCE_DEVICE Chunk load(i64 i) const {
    Chunk chunk{};
    if (kWide) {
#pragma unroll
      for (int w = 0; w < kWords; w += 4) {
        const u32x4 words =
            *reinterpret_cast<const u32x4*>(static_cast<const u32*>(x) + i * kWords + w);
#pragma unroll
        for (int j = 0; j < 4; ++j) chunk.word[w + j] = words[j];
      }
      return chunk;
    }
#pragma unroll
    for (int e = 0; e < 8; ++e) {
      if (8 * i + e >= k) break;
      if (kType == kF32) {
        chunk.word[e] = static_cast<const u32*>(x)[8 * i + e];
      } else {
        chunk.word[e / 2] |= static_cast<u32>(static_cast<const u16*>(x)[8 * i + e])
                             << (e % 2 * 16);
      }
    }
    return chunk;
  }

  RADIANCE_DEVICE static u32 largest(const Chunk& chunk, u32 so_far) {
#pragma unroll
    for (int e = 0; e < 8; ++e) {
      const u32 magnitude = float_bits(chunk.value(e)) & 0x7fffffffu;
      so_far = magnitude > so_far ? magnitude : so_far;
    }
    return so_far;
  }

  // The quotients as e4m3.
  RADIANCE_DEVICE void store(const Chunk& chunk, float scale, u8* xq, i64 i) const {
    u32x2 words;
#pragma unroll
    for (int w = 0; w < 2; ++w) {
      float q[4];
#pragma unroll
      for (int e = 0; e < 4; ++e) q[e] = chunk.value(4 * w + e) / scale;
      i32 word = __builtin_amdgcn_cvt_pk_fp8_f32(q[0], q[1], 0, false);
      word = __builtin_amdgcn_cvt_pk_fp8_f32(q[2], q[3], word, true);
      words[w] = static_cast<u32>(word);
    }
    if (kWide) {
      reinterpret_cast<u32x2*>(xq)[i] = words;
      return;
    }
#pragma unroll
    for (int e = 0; e < 8; ++e) {
      if (8 * i + e < k) xq[8 * i + e] = static_cast<u8>(words[e / 4] >> (e % 4 * 8));
    }
  }
};

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

// The row's scale; of a row with NaN or infinity, NaN.
RADIANCE_DEVICE float row_scale(const QuantizeParams& p, u32 largest) {
  const bool finite = largest < kInfinity;
  const float scale = finite ? activation_scale(float_from_bits(largest)) : float_from_bits(kNan);
  if (thread_index() == 0) p.scales[block_x()] = scale;
  return scale;
}

RADIANCE_DEVICE void store_nan(const QuantizeParams& p, u8* xq) {
  for (i64 i = thread_index(); i < p.k; i += kQuantizeThreads) xq[i] = kE4m3Nan;
}

// Up to kKept chunks a thread: the row is read once. Threads past the end read the last chunk
// again, which changes no maximum; a predicate would make them wait for every load.
template <int kType>
RADIANCE_DEVICE void quantize_kept(const QuantizeParams& p, const void* x, u8* xq) {
  using WideRow = Row<kType, true>;
  const WideRow row{x, p.k};
  const i64 chunks = p.k / 8, first = thread_index();
  const i64 rounds = (chunks + kQuantizeThreads - 1) / kQuantizeThreads;
  typename WideRow::Chunk kept[kKept];
#pragma unroll
  for (int c = 0; c < kKept; ++c) {
    if (c >= rounds) break;
    const i64 i = first + c * kQuantizeThreads;
    kept[c] = row.load(i < chunks ? i : chunks - 1);
  }
  u32 largest = 0;
#pragma unroll
  for (int c = 0; c < kKept; ++c) {
    if (c >= rounds) break;
    largest = WideRow::largest(kept[c], largest);
  }
  largest = workgroup_max(largest);
  const float scale = row_scale(p, largest);
  if (largest >= kInfinity) {
    store_nan(p, xq);
    return;
  }
#pragma unroll
  for (int c = 0; c < kKept; ++c) {
    if (c >= rounds) break;
    const i64 i = first + c * kQuantizeThreads;
    if (i < chunks) row.store(kept[c], scale, xq, i);
  }
}

// Any length and, if not wide, alignment: the row is read twice, chunk by chunk.
template <int kType, bool kWide>
RADIANCE_DEVICE void quantize_twice(const QuantizeParams& p, const void* x, u8* xq) {
  const Row<kType, kWide> row{x, p.k};
  const i64 chunks = (p.k + 7) / 8;
  u32 largest = 0;
#pragma unroll 1
  for (i64 i = thread_index(); i < chunks; i += kQuantizeThreads) {
    largest = row.largest(row.load(i), largest);
  }
  largest = workgroup_max(largest);
  const float scale = row_scale(p, largest);
  if (largest >= kInfinity) {
    store_nan(p, xq);
    return;
  }
#pragma unroll 1
  for (i64 i = thread_index(); i < chunks; i += kQuantizeThreads) {
    row.store(row.load(i), scale, xq, i);
  }
}

template <int kType>
RADIANCE_DEVICE void quantize_row(const QuantizeParams& p) {
  const i64 row = block_x();
  const u8* x = static_cast<const u8*>(p.x) + row * p.ldx * (kType == kF32 ? 4 : 2);
  u8* xq = p.xq + row * p.k;
  const bool wide =
      reinterpret_cast<u64>(x) % 16 == 0 && reinterpret_cast<u64>(xq) % 8 == 0 && p.k % 8 == 0;
  if (!wide) {
    quantize_twice<kType, false>(p, x, xq);
  } else if (p.k <= i64{8} * kKept * kQuantizeThreads) {
    quantize_kept<kType>(p, x, xq);
  } else {
    quantize_twice<kType, true>(p, x, xq);
  }
}

}  // namespace

RADIANCE_KERNEL(kQuantizeThreads) void quantize_activations(QuantizeParams p) {
  if (p.x_type == kBf16) {
    quantize_row<kBf16>(p);
  } else if (p.x_type == kF16) {
    quantize_row<kF16>(p);
  } else {
    quantize_row<kF32>(p);
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
