// Every shape that the matrix kernels do not take: groups that are no multiple of a slab, k that is
// no multiple of 128, very large n or k. Right, and slow: one thread an output feature, fp32.
//
// The codes are in the checkpoint's order. Eight products at a time are summed apart before they
// join the group's sum: with one group of all k that sum is long.
#include "kernels/gfx1201/epilogue.hip.hpp"
#include "numerics/e4m3.hpp"
#include "numerics/int4.hpp"

namespace radiance::gfx1201 {
namespace {

constexpr int kChunk = 128;  // k in LDS at a time

}  // namespace

RADIANCE_KERNEL(kGeneralThreads) void general(GeneralParams p) {
  RADIANCE_SHARED static float x[kChunk][kGeneralRows] __attribute__((aligned(16)));
  const i64 n = static_cast<i64>(block_x()) * kGeneralThreads + thread_index();
  const i64 column = n < p.n ? n : p.n - 1;
  const i64 m0 = static_cast<i64>(block_y()) * kGeneralRows;
  float total[kGeneralRows] = {}, sum[kGeneralRows] = {};
  i64 in_group = 0, group = 0;
  for (i64 k0 = 0; k0 < p.k; k0 += kChunk) {
    const i64 depth = p.k - k0 < kChunk ? p.k - k0 : kChunk;
    lds_barrier();
    for (u32 i = thread_index(); i < kChunk * kGeneralRows; i += kGeneralThreads) {
      const i64 k = i % kChunk, r = i / kChunk;
      const i64 row = m0 + r < p.m ? m0 + r : p.m - 1;
      x[k][r] = k < depth ? e4m3_to_f32(p.xq[row * p.k + k0 + k]) : 0.0f;
    }
    lds_barrier();
    for (i64 k = 0; k < depth; k += kCodesPerWord) {
      const u32 word = p.codes[(k0 + k) / kCodesPerWord * p.n + column];
      float eight[kGeneralRows] = {};
#pragma unroll
      for (int e = 0; e < kCodesPerWord; ++e) {
        const float value = static_cast<float>(int4_value(int4_code(word, e)));
#pragma unroll
        for (int r = 0; r < kGeneralRows; ++r) {
          eight[r] = __builtin_fmaf(x[k + e][r], value, eight[r]);
        }
      }
#pragma unroll
      for (int r = 0; r < kGeneralRows; ++r) sum[r] += eight[r];
      in_group += kCodesPerWord;
      if (in_group < p.group && k0 + k + kCodesPerWord < p.k) continue;
      const float scale = load_element(p.scales, kF16, group * p.n + column);
#pragma unroll
      for (int r = 0; r < kGeneralRows; ++r) {
        total[r] = __builtin_fmaf(sum[r], scale, total[r]);
        sum[r] = 0;
      }
      in_group = 0;
      ++group;
    }
  }
  if (n >= p.n) return;
  const float bias = p.bias == nullptr ? 0.0f : load_element(p.bias, p.bias_type, n);
#pragma unroll
  for (int r = 0; r < kGeneralRows; ++r) {
    if (m0 + r >= p.m) return;
    store_element(p.y, p.y_type, (m0 + r) * p.ldy + n,
                  __builtin_fmaf(total[r], p.x_scales[m0 + r], bias));
  }
}

}  // namespace radiance::gfx1201
