// The bytes that the kernels' own unpacks make of words.
#include "kernels/gfx1201/mxfp4_unpack.hip.hpp"
#include "kernels/gfx1201/probe_geometry.hpp"
#include "kernels/gfx1201/unpack.hip.hpp"

namespace radiance::gfx1201 {

RADIANCE_KERNEL(kProbeThreads) void unpack_probe(UnpackProbeParams p) {
  RADIANCE_SHARED static u32 tables[2 * kFolds] __attribute__((aligned(8)));
  fill_fold_tables(tables);
  lds_barrier();
  const u32 i = block_x() * kProbeThreads + thread_index();
  if (i >= static_cast<u32>(p.count)) return;
  const u32 word = p.words[i];
  u32x2* const bytes = reinterpret_cast<u32x2*>(p.bytes) + i;
  bytes[kUnpackSigned * p.count] = unpack_signed(word);
  bytes[kUnpackTable * p.count] = unpack_table(word);
  for (int e = 0; e < kFolds; ++e) {
    bytes[(kUnpackE2m1 + e) * p.count] =
        unpack_e2m1(word, reinterpret_cast<const u32x2*>(tables)[e]);
  }
}

}  // namespace radiance::gfx1201
