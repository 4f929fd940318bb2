// The prefill kernels that later ones are compared with.
#include "kernels/gfx1201/prefill_baseline.hip.hpp"

namespace radiance::gfx1201 {

RADIANCE_KERNEL(kThreads) void autoround_prefill_baseline_n2(GemmParams p) {
  prefill_baseline<PrefillBaselineConfig{2}>(p);
}
RADIANCE_KERNEL(kThreads) void autoround_prefill_baseline_n4(GemmParams p) {
  prefill_baseline<PrefillBaselineConfig{4}>(p);
}
RADIANCE_KERNEL(kThreads) void autoround_prefill_baseline_n2_group(GemmParams p) {
  prefill_baseline<PrefillBaselineConfig{2, true}>(p);
}

}  // namespace radiance::gfx1201
