// From a unit's words to A fragments and fp32 scales.
#pragma once

#include "kernels/sm90/geometry.hpp"
#include "numerics/e8m0.hpp"

namespace radiance::sm90 {

// One code a byte of each register, as e4m3 bytes whose value is the code's times kUnit.
//
// int4 is packed as 2 m' + s, s the sign and m' = s ? 7 - c : c - 8 of code c. The e4m3 bytes 0..16
// are the integers times 2^-9 at the even ones, so the byte is 2 m' + s * 0x82: no table, no
// correction, 7 instructions for 8 codes. (q + 1/2 with a row sum to take the half back unpacks in
// 5, but costs an addition an output element and group: more, from 16 tokens on.)
template <bool mxfp4>
struct Unpack;

template <>
struct Unpack<false> {
  static constexpr float kUnit = 0x1p-8f;
  static __device__ __forceinline__ void run(uint32_t word, uint32_t* low, uint32_t* high) {
    *low = (word & 0x0e0e0e0eu) + (word & 0x01010101u) * 0x82u;
    const uint32_t upper = word >> 4;
    *high = (upper & 0x0e0e0e0eu) + (upper & 0x01010101u) * 0x82u;
  }
};

// e2m1's exponent and mantissa at the bottom of e4m3's: the value times 2^-6, subnormals included.
template <>
struct Unpack<true> {
  static constexpr float kUnit = 0x1p-6f;
  static __device__ __forceinline__ void run(uint32_t word, uint32_t* low, uint32_t* high) {
    *low = (word & 0x08080808u) << 4 | (word & 0x07070707u) << 2;
    *high = (word & 0x80808080u) | (word >> 2 & 0x1c1c1c1cu);
  }
};

RADIANCE_HOST_DEVICE constexpr bool is_mxfp4(ScaleKind kind) { return kind == ScaleKind::kE8m0; }

// Two of a thread's four A fragments (k-steps) from 16 bytes of codes.
template <ScaleKind kind>
__device__ __forceinline__ void unpack(const uint4& words, uint32_t (*a)[4]) {
  using U = Unpack<is_mxfp4(kind)>;
  U::run(words.x, &a[0][0], &a[0][1]);
  U::run(words.y, &a[0][2], &a[0][3]);
  U::run(words.z, &a[1][0], &a[1][1]);
  U::run(words.w, &a[1][2], &a[1][3]);
}

__device__ __forceinline__ float half_to_float(uint16_t bits) {
  float value;
  asm("{\n.reg .f16 h;\nmov.b16 h, %1;\ncvt.f32.f16 %0, h;\n}\n" : "=f"(value) : "h"(bits));
  return value;
}

// A scale from its bits, with the codes' unit taken out.
template <ScaleKind kind>
__device__ __forceinline__ float scale_of_bits(uint32_t bits) {
  if constexpr (is_mxfp4(kind)) {
    return e8m0_to_f32(static_cast<uint8_t>(bits)) * (1.0f / Unpack<true>::kUnit);
  } else {
    return half_to_float(static_cast<uint16_t>(bits)) * (1.0f / Unpack<false>::kUnit);
  }
}

}  // namespace radiance::sm90
