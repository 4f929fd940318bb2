// One row of activations to e4m3 with its scale, by the threads of one block.
#pragma once

#include "kernels/sm90/output.cuh"
#include "numerics/e4m3.hpp"

namespace radiance::sm90 {

constexpr uint32_t kInfinity = 0x7f800000u;

// Elements 8 i .. 8 i + 7 of a row.
struct Chunk {
  float value[8];
};

// Eight elements of 16 bits as they lie in memory.
__device__ __forceinline__ Chunk widen(const uint4& bits, int type) {
  Chunk chunk;
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
  return chunk;
}

// One by one; zero past k.
__device__ __forceinline__ Chunk load_chunk(const void* row, int type, int64_t k, int64_t i) {
  Chunk chunk;
#pragma unroll
  for (int e = 0; e < 8; ++e) {
    chunk.value[e] = 8 * i + e < k ? load_element(row, type, 8 * i + e) : 0.0f;
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

// The largest magnitude of 16-bit elements, of which both halves of `largest` hold one.
__device__ __forceinline__ uint32_t packed_max(const uint4& bits, uint32_t largest) {
  for (const uint32_t word : {bits.x, bits.y, bits.z, bits.w}) {
    asm("max.u16x2 %0, %0, %1;" : "+r"(largest) : "r"(word & 0x7fff7fffu));
  }
  return largest;
}

__device__ __forceinline__ uint32_t unpacked_max(uint32_t packed, int type) {
  const uint32_t largest = max(packed & 0xffffu, packed >> 16);
  if (type == kBf16) return largest << 16;
  float value;
  asm("{\n.reg .f16 h;\nmov.b16 h, %1;\ncvt.f32.f16 %0, h;\n}\n"
      : "=f"(value)
      : "h"(static_cast<uint16_t>(largest)));
  return __float_as_uint(value) & 0x7fffffffu;
}

__device__ __forceinline__ uint32_t encode_pair(float low, float high) {
  uint16_t pair;
  asm("cvt.rn.satfinite.e4m3x2.f32 %0, %1, %2;" : "=h"(pair) : "f"(high), "f"(low));
  return pair;
}

// x / s rounded to nearest, r = 1 / s rounded to nearest: Newton's correction twice (Markstein), in
// half the instructions of the division. It is exact where the quotient is not tiny, that is not
// below 2^-11, and there e4m3 has nothing but the sign, which -0 would lose on the way.
__device__ __forceinline__ float divide(float x, float s, float r) {
  float q = __fmul_rn(x, r);
  q = __fmaf_rn(__fmaf_rn(-q, s, x), r, q);
  return copysignf(__fmaf_rn(__fmaf_rn(-q, s, x), r, q), x);
}

__device__ __forceinline__ uint2 encode(const Chunk& chunk, float scale) {
  const float r = __frcp_rn(scale);
  uint32_t words[2];
#pragma unroll
  for (int w = 0; w < 2; ++w) {
    const float* v = chunk.value + 4 * w;
    words[w] = encode_pair(divide(v[0], scale, r), divide(v[1], scale, r)) |
               encode_pair(divide(v[2], scale, r), divide(v[3], scale, r)) << 16;
  }
  return make_uint2(words[0], words[1]);
}

// Row `row` by threads 0 .. threads - 1, a multiple of 32. Of rows of 16-bit elements that lie on
// 16 bytes each thread keeps `kept` chunks in registers; what is longer, and every other row, is
// read twice. synchronize() lets those threads wait for each other; warp_max has a word for each
// warp.
template <int threads, int kept, typename Synchronize>
__device__ __forceinline__ void quantize_row(const QuantizeParams& p, int64_t row, int thread,
                                             uint32_t* warp_max, Synchronize&& synchronize) {
  const auto* x = static_cast<const uint8_t*>(p.x) + row * p.ldx * (p.x_type == kF32 ? 4 : 2);
  uint8_t* xq = p.xq + row * p.k;
  const bool wide = p.x_type != kF32 && p.k % 8 == 0 && reinterpret_cast<uintptr_t>(x) % 16 == 0 &&
                    reinterpret_cast<uintptr_t>(xq) % 8 == 0;
  const auto* bits = reinterpret_cast<const uint4*>(x);
  const int64_t chunks = (p.k + 7) / 8;

  uint4 keep[kept];
  uint32_t largest = 0;
  if (wide) {
#pragma unroll
    for (int c = 0; c < kept; ++c) {
      const int64_t i = thread + c * threads;
      keep[c] = i < chunks ? bits[i] : make_uint4(0, 0, 0, 0);
    }
#pragma unroll
    for (int c = 0; c < kept; ++c) largest = packed_max(keep[c], largest);
#pragma unroll 1
    for (int64_t i = thread + kept * threads; i < chunks; i += threads) {
      largest = packed_max(bits[i], largest);
    }
    largest = unpacked_max(largest, p.x_type);
  } else {
#pragma unroll 1
    for (int64_t i = thread; i < chunks; i += threads) {
      largest = chunk_max(load_chunk(x, p.x_type, p.k, i), largest);
    }
  }
  largest = __reduce_max_sync(0xffffffffu, largest);
  if (thread % 32 == 0) warp_max[thread / 32] = largest;
  synchronize();
  largest = __reduce_max_sync(0xffffffffu, thread % 32 < threads / 32 ? warp_max[thread % 32] : 0);

  if (largest >= kInfinity) {
    if (thread == 0) p.scales[row] = __uint_as_float(0x7fc00000u);
#pragma unroll 1
    for (int64_t i = thread; i < p.k; i += threads) xq[i] = kE4m3Nan;
    return;
  }
  // numerics/e4m3.hpp, activation_scale: both divisions are true ones.
  const float scale =
      fmaxf(__fdiv_rn(__uint_as_float(largest), kE4m3Max), 1.0f / (448.0f * 512.0f));
  if (thread == 0) p.scales[row] = scale;
  if (wide) {
    auto* to = reinterpret_cast<uint2*>(xq);
#pragma unroll
    for (int c = 0; c < kept; ++c) {
      const int64_t i = thread + c * threads;
      if (i < chunks) to[i] = encode(widen(keep[c], p.x_type), scale);
    }
#pragma unroll 1
    for (int64_t i = thread + kept * threads; i < chunks; i += threads) {
      to[i] = encode(widen(bits[i], p.x_type), scale);
    }
  } else {
#pragma unroll 1
    for (int64_t i = thread; i < chunks; i += threads) {
      const uint2 words = encode(load_chunk(x, p.x_type, p.k, i), scale);
      for (int e = 0; e < 8 && 8 * i + e < p.k; ++e) {
        xq[8 * i + e] = static_cast<uint8_t>((e < 4 ? words.x : words.y) >> (e % 4 * 8));
      }
    }
  }
}

}  // namespace radiance::sm90
