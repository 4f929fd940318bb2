// The decode kernels that later ones are compared with.
#include "kernels/gfx1201/decode_baseline.hip.hpp"

namespace radiance::gfx1201 {

RADIANCE_KERNEL(kThreads) void autoround_decode_baseline_r1(GemmParams p) {
  decode_baseline<DecodeBaselineConfig{1}>(p);
}
RADIANCE_KERNEL(kThreads) void autoround_decode_baseline_r2(GemmParams p) {
  decode_baseline<DecodeBaselineConfig{2}>(p);
}
RADIANCE_KERNEL(kThreads) void autoround_decode_baseline_r3(GemmParams p) {
  decode_baseline<DecodeBaselineConfig{3}>(p);
}
RADIANCE_KERNEL(kThreads) void autoround_decode_baseline_r4(GemmParams p) {
  decode_baseline<DecodeBaselineConfig{4}>(p);
}

RADIANCE_KERNEL(kThreads) void autoround_decode_baseline_r1_split(GemmParams p) {
  decode_baseline<DecodeBaselineConfig{1, true}>(p);
}
RADIANCE_KERNEL(kThreads) void autoround_decode_baseline_r2_split(GemmParams p) {
  decode_baseline<DecodeBaselineConfig{2, true}>(p);
}
RADIANCE_KERNEL(kThreads) void autoround_decode_baseline_r3_split(GemmParams p) {
  decode_baseline<DecodeBaselineConfig{3, true}>(p);
}
RADIANCE_KERNEL(kThreads) void autoround_decode_baseline_r4_split(GemmParams p) {
  decode_baseline<DecodeBaselineConfig{4, true}>(p);
}

}  // namespace radiance::gfx1201
