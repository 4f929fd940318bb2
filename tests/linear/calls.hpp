// Arguments of the C interface for fp32 rows and results, as the tests pass them.
#pragma once

#include "radiance/radiance.hpp"

namespace radiance::test {

inline radiance_forward_args forward_args(int64_t m, const void* x, void* y,
                                          const api::Buffer& workspace) {
  auto args = api::make<radiance_forward_args>();
  args.m = m;
  args.x = x;
  args.x_dtype = RADIANCE_F32;
  args.y = y;
  args.y_dtype = RADIANCE_F32;
  args.workspace = workspace.get();
  args.workspace_bytes = workspace.bytes();
  return args;
}

inline radiance_quantize_args quantize_args(int64_t m, int64_t k, const void* x, void* xq,
                                            void* scales) {
  auto args = api::make<radiance_quantize_args>();
  args.m = m;
  args.k = k;
  args.x = x;
  args.x_dtype = RADIANCE_F32;
  args.xq = static_cast<uint8_t*>(xq);
  args.scales = static_cast<float*>(scales);
  return args;
}

inline radiance_gemm_args gemm_args(int64_t m, const void* xq, const void* x_scales, void* y,
                                    const api::Buffer& workspace) {
  auto args = api::make<radiance_gemm_args>();
  args.m = m;
  args.xq = static_cast<const uint8_t*>(xq);
  args.x_scales = static_cast<const float*>(x_scales);
  args.y = y;
  args.y_dtype = RADIANCE_F32;
  args.workspace = workspace.get();
  args.workspace_bytes = workspace.bytes();
  return args;
}

}  // namespace radiance::test
