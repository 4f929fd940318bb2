// The instruments: a streaming read, and the matrix units' peak.
#include "kernels/sm90/geometry.hpp"
#include "kernels/sm90/ptx.cuh"
#include "kernels/sm90/wgmma.cuh"

namespace radiance::sm90 {

// Reads 16 bytes a thread at a time, eight in flight, and writes only if a sum is what no data
// makes.
extern "C" __global__ void __launch_bounds__(512)
    stream_read(const uint4* data, int64_t count, uint32_t* never) {
  constexpr int kInFlight = 8;
  const int64_t stride = static_cast<int64_t>(gridDim.x) * blockDim.x;
  int64_t i = static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  uint32_t seen = 0;
  for (; i + (kInFlight - 1) * stride < count; i += kInFlight * stride) {
    uint4 values[kInFlight];
#pragma unroll
    for (int j = 0; j < kInFlight; ++j) values[j] = __ldcs(data + i + j * stride);
#pragma unroll
    for (int j = 0; j < kInFlight; ++j) {
      seen |= values[j].x ^ values[j].y ^ values[j].z ^ values[j].w;
    }
  }
  for (; i < count; i += stride) {
    const uint4 v = __ldcs(data + i);
    seen |= v.x ^ v.y ^ v.z ^ v.w;
  }
  if (seen == 0x5eed5eedu && count < 0) *never = seen;
}

constexpr int kPeakTokens = 128;

// Two warpgroups a multiprocessor, A and B in place, nothing else.
extern "C" __global__ void __launch_bounds__(256, 1) peak(int iterations, float* never) {
  __shared__ alignas(1024) uint8_t b[kPeakTokens * kSlabK];
  for (int i = threadIdx.x; i < kPeakTokens * kSlabK; i += blockDim.x) {
    b[i] = static_cast<uint8_t>(i * 2654435761u >> 24) & 0xbf;  // no NaN, varied bits
  }
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
  __syncthreads();
  uint32_t a[4];
#pragma unroll
  for (int i = 0; i < 4; ++i) a[i] = ((threadIdx.x + 7 * i) * 2654435761u) & 0xbfbfbfbfu;
  float sum[kPeakTokens / 2];
#pragma unroll
  for (int i = 0; i < kPeakTokens / 2; ++i) sum[i] = 0;
  const uint64_t at = tile_descriptor(b);
  pin(sum);
  warpgroup_arrive();
  for (int it = 0; it < iterations; ++it) {
#pragma unroll
    for (int s = 0; s < 4; ++s) {
      Wgmma<kPeakTokens>::run(sum, a, at + s * kDescriptorStep, true);
    }
    warpgroup_commit();
    warpgroup_wait<1>();
  }
  warpgroup_wait<0>();
  pin(sum);
  float all = 0;
#pragma unroll
  for (int i = 0; i < kPeakTokens / 2; ++i) all += sum[i];
  if (all == 12345.678f) *never = all;
}

}  // namespace radiance::sm90
