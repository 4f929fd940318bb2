// Reads memory once, as fast as the device can: what a decode is measured against.
#include "kernels/gfx1201/types.hip.hpp"

namespace radiance::gfx1201 {

// Sixteen bytes a lane at a time, eight loads under way, past the caches' reuse; writes only if a
// sum is what no data makes.
RADIANCE_KERNEL(kStreamThreads) void stream_read(StreamParams p, u32 blocks) {
  constexpr int kInFlight = 8;
  const auto* data = static_cast<const u32x4*>(p.data);
  const i64 stride = static_cast<i64>(blocks) * kStreamThreads;
  i64 i = static_cast<i64>(block_x()) * kStreamThreads + thread_index();
  u32 seen = 0;
  for (; i + (kInFlight - 1) * stride < p.chunks; i += kInFlight * stride) {
    u32x4 values[kInFlight];
#pragma unroll
    for (int j = 0; j < kInFlight; ++j)
      values[j] = __builtin_nontemporal_load(data + i + j * stride);
#pragma unroll
    for (int j = 0; j < kInFlight; ++j) {
      seen |= values[j].x ^ values[j].y ^ values[j].z ^ values[j].w;
    }
  }
  for (; i < p.chunks; i += stride) {
    const u32x4 v = __builtin_nontemporal_load(data + i);
    seen |= v.x ^ v.y ^ v.z ^ v.w;
  }
  if (seen == 0x5eed5eedu && p.chunks < 0) *p.never = seen;
}

}  // namespace radiance::gfx1201
