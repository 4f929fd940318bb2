// Split-K inside one launch: the workgroup of a block of features that arrives last adds up what
// all of them left, always in the order of the split, so that the result does not depend on who is
// last.
#pragma once

#include "kernels/gfx1201/types.hip.hpp"

namespace radiance::gfx1201 {

// Leaves this workgroup's sums and says whether it is the last one, in which case `sum` then holds
// the total. block: of features; part of parts: of K. Every thread of the workgroup calls it.
template <int kTiles>
RADIANCE_DEVICE bool reduce_split(const GemmParams& p, u32 block, u32 part, u32 parts,
                                  f32x8 (&sum)[kTiles][1]) {
  RADIANCE_SHARED static u32 arrived;
  constexpr u32 kFloats = kTiles * 8 * kThreads;
  float* mine = p.partials + (static_cast<i64>(block) * parts + part) * kFloats;
  const u32 offset = thread_index() * 4;
#pragma unroll
  for (int i = 0; i < kTiles; ++i) {
    *reinterpret_cast<f32x4*>(mine + (2 * i) * (kThreads * 4) + offset) = sum[i][0].lo;
    *reinterpret_cast<f32x4*>(mine + (2 * i + 1) * (kThreads * 4) + offset) = sum[i][0].hi;
  }
  __builtin_amdgcn_fence(__ATOMIC_RELEASE, "agent");
  __builtin_amdgcn_s_barrier();
  if (thread_index() == 0) {
    arrived =
        __hip_atomic_fetch_add(p.counters + block, 1u, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT);
  }
  lds_barrier();
  if (uniform(arrived) != parts - 1) return false;
  __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "agent");
  if (thread_index() == 0) p.counters[block] = 0;
#pragma unroll
  for (int i = 0; i < kTiles; ++i) sum[i][0] = f32x8{};
  const float* from = p.partials + static_cast<i64>(block) * parts * kFloats;
  for (u32 s = 0; s < parts; ++s, from += kFloats) {
#pragma unroll
    for (int i = 0; i < kTiles; ++i) {
      const f32x4 lo = *reinterpret_cast<const f32x4*>(from + (2 * i) * (kThreads * 4) + offset);
      const f32x4 hi =
          *reinterpret_cast<const f32x4*>(from + (2 * i + 1) * (kThreads * 4) + offset);
      sum[i][0] += __builtin_shufflevector(lo, hi, 0, 1, 2, 3, 4, 5, 6, 7);
    }
  }
  return true;
}

}  // namespace radiance::gfx1201
