// Activations to e4m3 with a scale a token: one block a row, which it reads once.
#include "kernels/sm90/output.cuh"
#include "kernels/sm90/ptx.cuh"
#include "numerics/e4m3.hpp"

namespace radiance::sm90 {
namespace {

// A block of 512 threads with all of a row of 32768 in its registers waits until a multiprocessor
// is free of decode's. One of 128 threads and 32 registers fits beside two of them, but takes 2 us
// longer (gate_up at 8 tokens: 25.9 against 23.8 us for the whole operation).
constexpr int kThreads = 256;
constexpr int kKept = 4;  // chunks of 8 elements a thread keeps: rows up to 8192 are read once
constexpr uint32_t kInfinity = 0x7f800000u;

struct Chunk {
  float value[8];
};

// Elements 8 i .. 8 i + 7 of a row; zero past k.
__device__ __forceinline__ Chunk load_chunk(const void* row, int type, int64_t k, int64_t i,
                                            bool wide) {
  Chunk chunk;
  if (wide && type != kF32) {
    const uint4 bits = static_cast<const uint4*>(row)[i];
    const uint32_t words[4] = {bits.x, bits.y, bits.z, bits.w};
#pragma unroll
    for (int w = 0; w < 4; ++w) {
      if (type == kBf16) {
        chunk.value[2 * w] = __uint_as_float(words[w] << 16);
        chunk.value[2 * w + 1] = __uint_as_float(words[w] & 0xffff0000u);
      } else {
        asm("{\n.reg .f16 a, b;\nmov.b32 {a, b}, %2;\ncvt.f32.f16 %0, a;\ncvt.f32.f16 %1, b;\n}\n"
            : "=f"(chunk.value[2 * w]), "=f"(chunk.value[2 * w + 1])
            : "r"(words[w]));
      }
    }
  } else {
#pragma unroll
    for (int e = 0; e < 8; ++e) {
      chunk.value[e] = 8 * i + e < k ? load_element(row, type, 8 * i + e) : 0.0f;
    }
  }
  return chunk;
}

__device__ __forceinline__ uint32_t chunk_max(const Chunk& chunk, uint32_t largest) {
#pragma unroll
  for (int e = 0; e < 8; ++e) {
    largest = max(largest, __float_as_uint(chunk.value[e]) & 0x7fffffffu);
  }
  return largest;
}

__device__ __forceinline__ uint32_t encode_pair(float low, float high) {
  uint16_t pair;
  asm("cvt.rn.satfinite.e4m3x2.f32 %0, %1, %2;" : "=h"(pair) : "f"(high), "f"(low));
  return pair;
}

__device__ __forceinline__ void store_chunk(const Chunk& chunk, float scale, uint8_t* row,
                                            int64_t k, int64_t i, bool wide) {
  uint32_t words[2];
#pragma unroll
  for (int w = 0; w < 2; ++w) {
    const float* v = chunk.value + 4 * w;
    words[w] = encode_pair(__fdiv_rn(v[0], scale), __fdiv_rn(v[1], scale)) |
               encode_pair(__fdiv_rn(v[2], scale), __fdiv_rn(v[3], scale)) << 16;
  }
  if (wide) {
    reinterpret_cast<uint2*>(row)[i] = make_uint2(words[0], words[1]);
  } else {
    for (int e = 0; e < 8 && 8 * i + e < k; ++e) {
      row[8 * i + e] = static_cast<uint8_t>(words[e / 4] >> (e % 4 * 8));
    }
  }
}

}  // namespace

extern "C" __global__ void __launch_bounds__(kThreads) quantize(const QuantizeParams p) {
  __shared__ uint32_t warp_max[kThreads / 32];
  let_next_kernel_start();
  wait_for_previous_kernel();
  const int64_t row = blockIdx.x;
  const auto* x = static_cast<const uint8_t*>(p.x) + row * p.ldx * (p.x_type == kF32 ? 4 : 2);
  uint8_t* xq = p.xq + row * p.k;
  const bool wide_in = reinterpret_cast<uintptr_t>(x) % 16 == 0 && p.k % 8 == 0;
  const bool wide_out = reinterpret_cast<uintptr_t>(xq) % 8 == 0 && p.k % 8 == 0;
  const int64_t chunks = (p.k + 7) / 8;

  Chunk kept[kKept];
  uint32_t largest = 0;
#pragma unroll
  for (int c = 0; c < kKept; ++c) {
    const int64_t i = threadIdx.x + c * kThreads;
    if (i < chunks) {
      kept[c] = load_chunk(x, p.x_type, p.k, i, wide_in);
      largest = chunk_max(kept[c], largest);
    }
  }
  for (int64_t i = threadIdx.x + kKept * kThreads; i < chunks; i += kThreads) {
    largest = chunk_max(load_chunk(x, p.x_type, p.k, i, wide_in), largest);
  }
  largest = __reduce_max_sync(0xffffffffu, largest);
  if (threadIdx.x % 32 == 0) warp_max[threadIdx.x / 32] = largest;
  __syncthreads();
  largest = __reduce_max_sync(0xffffffffu, warp_max[threadIdx.x % (kThreads / 32)]);

  if (largest >= kInfinity) {
    if (threadIdx.x == 0) p.scales[row] = __uint_as_float(0x7fc00000u);
    for (int64_t i = threadIdx.x; i < p.k; i += kThreads) xq[i] = kE4m3Nan;
    return;
  }
  // numerics/e4m3.hpp, activation_scale: both divisions are true ones.
  const float scale =
      fmaxf(__fdiv_rn(__uint_as_float(largest), kE4m3Max), 1.0f / (448.0f * 512.0f));
  if (threadIdx.x == 0) p.scales[row] = scale;
#pragma unroll
  for (int c = 0; c < kKept; ++c) {
    const int64_t i = threadIdx.x + c * kThreads;
    if (i < chunks) store_chunk(kept[c], scale, xq, p.k, i, wide_out);
  }
  for (int64_t i = threadIdx.x + kKept * kThreads; i < chunks; i += kThreads) {
    store_chunk(load_chunk(x, p.x_type, p.k, i, wide_in), scale, xq, p.k, i, wide_out);
  }
}

// One warp a row and group: the exact sum in units of 2^-9, rounded once.
extern "C" __global__ void __launch_bounds__(32) row_sums(const RowSumParams p) {
  const int64_t row = blockIdx.x / p.groups, g = blockIdx.x % p.groups;
  const int64_t begin = g * p.group;
  const int64_t end = min(p.k, begin + p.group);
  long long sum = 0;
  bool nan = false;
  for (int64_t i = begin + threadIdx.x; i < end; i += 32) {
    const u8 byte = p.xq[row * p.k + i];
    const bool bad = (byte & 0x7f) == kE4m3Nan;
    nan |= bad;
    if (!bad) sum += static_cast<int>(e4m3_to_f32(byte) * 512.0f);
  }
  for (int offset = 16; offset > 0; offset /= 2) sum += __shfl_down_sync(0xffffffffu, sum, offset);
  nan = __any_sync(0xffffffffu, nan);
  if (threadIdx.x == 0) {
    p.sums[blockIdx.x] = nan ? __uint_as_float(0x7fc00000u) : __ll2float_rn(sum) * 0x1p-9f;
  }
}

}  // namespace radiance::sm90
