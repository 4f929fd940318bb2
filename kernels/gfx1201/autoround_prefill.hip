// The prefill kernels that ship, for groups of 128 and more.
#include "kernels/gfx1201/prefill.hip.hpp"

namespace radiance::gfx1201 {

RADIANCE_KERNEL(kThreads) void autoround_prefill_n2(GemmParams p) {
  prefill<PrefillConfig{2, 128}>(p);
}
RADIANCE_KERNEL(kThreads) void autoround_prefill_n4(GemmParams p) {
  prefill<PrefillConfig{4, 64}>(p);
}

}  // namespace radiance::gfx1201
