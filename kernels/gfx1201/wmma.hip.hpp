// The matrix unit: D = A x B + C of 16 x 16 x 16, e4m3 operands, fp32 sums.
//
// A, B: lane l holds row (column) l % 16, eight bytes of k for lane half l / 16.
// C, D: lane l holds column l % 16; element r is row 8 (l / 16) + r.
#pragma once

#include "kernels/gfx1201/types.hip.hpp"

namespace radiance::gfx1201 {

RADIANCE_DEVICE f32x8 wmma(u32x2 a, u32x2 b, f32x8 c) {
  return __builtin_amdgcn_wmma_f32_16x16x16_fp8_fp8_w32_gfx12(__builtin_bit_cast(i32x2, a),
                                                              __builtin_bit_cast(i32x2, b), c);
}

// Sixteen bytes of a lane are the operands of two steps.
RADIANCE_DEVICE u32x2 first_step(u32x4 pair) { return pair.xy; }
RADIANCE_DEVICE u32x2 second_step(u32x4 pair) { return pair.zw; }

}  // namespace radiance::gfx1201
