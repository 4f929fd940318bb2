// From fp32 sums to the output's type.
#pragma once

#include <cstdint>

#include "kernels/sm90/geometry.hpp"

namespace radiance::sm90 {

// radiance_dtype
constexpr int kBf16 = 1, kF16 = 2, kF32 = 3;

__device__ __forceinline__ uint16_t to_bf16(float x) {
  uint16_t bits;
  asm("cvt.rn.bf16.f32 %0, %1;" : "=h"(bits) : "f"(x));
  return bits;
}

__device__ __forceinline__ uint16_t to_f16(float x) {
  uint16_t bits;
  asm("{\n.reg .f16 h;\ncvt.rn.f16.f32 h, %1;\nmov.b16 %0, h;\n}\n" : "=h"(bits) : "f"(x));
  return bits;
}

// Two of them as type (bf16 or fp16), the first in the lower half.
__device__ __forceinline__ uint32_t to_pair(int type, float first, float second) {
  uint32_t pair;
  if (type == kBf16) {
    asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(pair) : "f"(second), "f"(first));
  } else {
    asm("cvt.rn.f16x2.f32 %0, %1, %2;" : "=r"(pair) : "f"(second), "f"(first));
  }
  return pair;
}

// Of 8 x 8 elements of 16 bits each thread of a warp has two neighbours in a row, rows in order;
// transposed.
__device__ __forceinline__ uint32_t transpose_8x8(uint32_t two) {
  uint32_t transposed;
  asm volatile("movmatrix.sync.aligned.m8n8.trans.b16 %0, %1;" : "=r"(transposed) : "r"(two));
  return transposed;
}

__device__ __forceinline__ float load_element(const void* data, int type, int64_t i) {
  if (type == kF32) return static_cast<const float*>(data)[i];
  const uint16_t bits = static_cast<const uint16_t*>(data)[i];
  float value;
  if (type == kF16) {
    asm("{\n.reg .f16 h;\nmov.b16 h, %1;\ncvt.f32.f16 %0, h;\n}\n" : "=f"(value) : "h"(bits));
    return value;
  }
  return __uint_as_float(static_cast<uint32_t>(bits) << 16);
}

__device__ __forceinline__ void store_element(void* data, int type, int64_t i, float value) {
  if (type == kF32) {
    static_cast<float*>(data)[i] = value;
  } else {
    static_cast<uint16_t*>(data)[i] = type == kBf16 ? to_bf16(value) : to_f16(value);
  }
}

__device__ __forceinline__ float load_bias(const GemmParams& p, int n) {
  return p.bias == nullptr || n >= p.n ? 0.0f : load_element(p.bias, p.bias_type, n);
}

}  // namespace radiance::sm90
