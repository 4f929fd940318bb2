// Every shape that the tensor core kernels do not take: groups that neither divide 128 nor are its
// multiples, and k that is no multiple of 16. Right, and slow: one thread an output feature, fp32.
#include "kernels/sm90/output.cuh"
#include "numerics/e4m3.hpp"
#include "numerics/int4.hpp"

namespace radiance::sm90 {
namespace {
constexpr int kThreads = 128;
constexpr int kTokens = 8;
}  // namespace

extern "C" __global__ void __launch_bounds__(kThreads) general(const GeneralParams p) {
  __shared__ float x[kTokens][8];
  const int64_t n = static_cast<int64_t>(blockIdx.x) * kThreads + threadIdx.x;
  const int m0 = blockIdx.y * kTokens;
  const int64_t column = n < p.n ? n : p.n - 1;
  float total[kTokens] = {};
  float sum[kTokens] = {};
  for (int64_t k0 = 0; k0 < p.k; k0 += 8) {
    __syncthreads();
    if (threadIdx.x < kTokens * 8) {
      const int token = threadIdx.x / 8, e = threadIdx.x % 8;
      x[token][e] = m0 + token < p.m ? e4m3_to_f32(p.xq[(m0 + token) * p.k + k0 + e]) : 0.0f;
    }
    __syncthreads();
    const uint32_t word = p.codes[k0 / 8 * p.n + column];
#pragma unroll
    for (int e = 0; e < 8; ++e) {
      const auto value = static_cast<float>(int4_value(int4_code(word, e)));
#pragma unroll
      for (int t = 0; t < kTokens; ++t) sum[t] = fmaf(x[t][e], value, sum[t]);
    }
    if ((k0 + 8) % p.group == 0 || k0 + 8 == p.k) {
      const float scale = load_element(p.scales, kF16, k0 / p.group * p.n + column);
#pragma unroll
      for (int t = 0; t < kTokens; ++t) {
        total[t] = fmaf(sum[t], scale, total[t]);
        sum[t] = 0;
      }
    }
  }
  if (n >= p.n) return;
  const float bias = p.bias == nullptr ? 0.0f : load_element(p.bias, p.bias_type, n);
  for (int t = 0; t < kTokens && m0 + t < p.m; ++t) {
    store_element(p.y, p.y_type, (m0 + t) * p.ldy + n, fmaf(total[t], p.x_scales[m0 + t], bias));
  }
}

}  // namespace radiance::sm90
