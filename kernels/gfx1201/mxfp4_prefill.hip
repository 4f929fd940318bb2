// The MXFP4 prefill kernels that ship: folded, and "_blocks" for weights that cannot be.
#include "kernels/gfx1201/mxfp4_prefill.hip.hpp"

namespace radiance::gfx1201 {

RADIANCE_KERNEL(kThreads) void mxfp4_prefill_n2(Mxfp4Params p) {
  mxfp4_prefill<Mxfp4PrefillConfig{2, 128}>(p);
}
RADIANCE_KERNEL(kThreads) void mxfp4_prefill_n4(Mxfp4Params p) {
  mxfp4_prefill<Mxfp4PrefillConfig{4, 64}>(p);
}
RADIANCE_KERNEL(kThreads) void mxfp4_prefill_n2_blocks(Mxfp4Params p) {
  mxfp4_prefill<Mxfp4PrefillConfig{2, 128, false}>(p);
}
RADIANCE_KERNEL(kThreads) void mxfp4_prefill_n4_blocks(Mxfp4Params p) {
  mxfp4_prefill<Mxfp4PrefillConfig{4, 64, false}>(p);
}

}  // namespace radiance::gfx1201
