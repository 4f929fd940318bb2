// What the GPUs' kernels for every other shape are told: host and device agree on it.
#pragma once

#include "numerics/host_device.hpp"

namespace radiance {

struct PackedHeader;
struct GemmCall;

struct GeneralParams {
  const u32* codes;   // [k / 8][n], as checkpoints hold them, or as the layout says
  const u16* scales;  // fp16 [groups][n], or as the layout says
  const u8* xq;       // [m][k]
  const float* x_scales;
  void* y;
  const void* bias;  // null if none
  __INT64_TYPE__ ldy, n, k, group, m;
  i32 y_type, bias_type;  // radiance_dtype
};

// Of a call whose activations are xq and x_scales.
GeneralParams general_params(const PackedHeader& header, const void* packed, const GemmCall& call,
                             const u8* xq, const float* x_scales);

}  // namespace radiance
