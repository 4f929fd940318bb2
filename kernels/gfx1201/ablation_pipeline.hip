// The shipped kernels with something of their loads and waits undone, and what was built in their
// place and lost.
#include "kernels/gfx1201/decode_dot.hip.hpp"
#include "kernels/gfx1201/prefill.hip.hpp"

namespace radiance::gfx1201 {

RADIANCE_KERNEL(kThreads) void ablate_decode_r1_whole_barriers(GemmParams p) {
  decode<DecodeConfig{.ablation = {.whole_barriers = true}}>(p);
}
RADIANCE_KERNEL(kThreads) void ablate_decode_r2_whole_barriers(GemmParams p) {
  decode<DecodeConfig{.row_tiles = 2, .ablation = {.whole_barriers = true}}>(p);
}
RADIANCE_KERNEL(kThreads) void ablate_decode_r1_one_buffer(GemmParams p) {
  decode<DecodeConfig{.ablation = {.one_buffer = true}}>(p);
}
RADIANCE_KERNEL(kThreads) void ablate_decode_r4_one_buffer(GemmParams p) {
  decode<DecodeConfig{.row_tiles = 4, .ablation = {.one_buffer = true}}>(p);
}
RADIANCE_KERNEL(kThreads) void ablate_decode_r1_transposed_loads(GemmParams p) {
  decode<DecodeConfig{.ablation = {.transposed_loads = true}}>(p);
}
RADIANCE_KERNEL(kThreads) void ablate_decode_r1_dot1(GemmParams p) { decode_dot<1>(p); }
RADIANCE_KERNEL(kThreads) void ablate_decode_r1_dot2(GemmParams p) { decode_dot<2>(p); }
RADIANCE_KERNEL(kThreads) void ablate_decode_r1_dot4(GemmParams p) { decode_dot<4>(p); }
RADIANCE_KERNEL(kThreads) void ablate_prefill_n2_whole_barriers(GemmParams p) {
  prefill<PrefillConfig{.ablation = {.whole_barriers = true}}>(p);
}

}  // namespace radiance::gfx1201
