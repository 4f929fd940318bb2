// The prefill kernels for groups of 64 and 32.
#include "kernels/gfx1201/prefill.hip.hpp"

namespace radiance::gfx1201 {

RADIANCE_KERNEL(kThreads) void autoround_prefill_n2_g64(GemmParams p) {
  prefill<PrefillConfig{2, 128, 2}>(p);
}
RADIANCE_KERNEL(kThreads) void autoround_prefill_n4_g64(GemmParams p) {
  prefill<PrefillConfig{4, 64, 2}>(p);
}

RADIANCE_KERNEL(kThreads) void autoround_prefill_n2_g32(GemmParams p) {
  prefill<PrefillConfig{2, 128, 4}>(p);
}
RADIANCE_KERNEL(kThreads) void autoround_prefill_n4_g32(GemmParams p) {
  prefill<PrefillConfig{4, 64, 4}>(p);
}

}  // namespace radiance::gfx1201
