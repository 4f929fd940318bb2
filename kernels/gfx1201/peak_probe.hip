// Multiplications on registers and nothing else: the matrix units' peak.
#include "kernels/gfx1201/wmma.hip.hpp"

namespace radiance::gfx1201 {

RADIANCE_KERNEL(kThreads) void peak(PeakParams p) {
  const u32 bits = (thread_index() + 1) * 2654435761u & 0xbfbfbfbfu;  // no NaN
  const u32x2 a = {bits, bits ^ 0x11223344u}, b = {bits ^ 0x21436587u, bits ^ 0x01020304u};
  f32x8 sum[kPeakChains] = {};
  for (i64 i = 0; i < p.iterations; ++i) {
#pragma unroll
    for (int c = 0; c < kPeakChains; ++c) sum[c] = wmma(a, b, sum[c]);
  }
  float all = 0;
#pragma unroll
  for (int c = 0; c < kPeakChains; ++c) {
#pragma unroll
    for (int r = 0; r < 8; ++r) all += sum[c][r];
  }
  if (all == 12345.678f) *p.never = all;
}

}  // namespace radiance::gfx1201
