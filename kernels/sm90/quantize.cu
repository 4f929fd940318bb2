// Activations to e4m3 with a scale a token: one block a row, which it reads once.
#include "kernels/sm90/ptx.cuh"
#include "kernels/sm90/quantize_row.cuh"

namespace radiance::sm90 {
namespace {

// A block of 512 threads with all of a row of 32768 in its registers waits until a multiprocessor
// is free of decode's. One of 128 threads and 32 registers fits beside two of them, but takes 2 us
// longer (gate_up at 8 tokens: 25.9 against 23.8 us for the whole operation).
constexpr int kThreads = 256;
constexpr int kKept = 4;  // rows up to 8192 are read once

}  // namespace

extern "C" __global__ void __launch_bounds__(kThreads) quantize(const QuantizeParams p) {
  __shared__ uint32_t warp_max[kThreads / 32];
  let_next_kernel_start();
  wait_for_previous_kernel();
  quantize_row<kThreads, kKept>(p, blockIdx.x, threadIdx.x, warp_max, [] { __syncthreads(); });
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
