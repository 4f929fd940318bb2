// The baseline kernels with something left out or added, to see what it costs: what each of them
// showed stands in docs/log.md. The first three kinds compute wrong results.
#include "kernels/gfx1201/decode_baseline.hip.hpp"
#include "kernels/gfx1201/prefill_baseline.hip.hpp"

namespace radiance::gfx1201 {

RADIANCE_KERNEL(kThreads) void ablate_decode_no_unpack(GemmParams p) {
  decode_baseline<DecodeBaselineConfig{.ablation = {.no_unpack = true}}>(p);
}
RADIANCE_KERNEL(kThreads) void ablate_decode_no_scale(GemmParams p) {
  decode_baseline<DecodeBaselineConfig{.ablation = {.no_scale = true}}>(p);
}
RADIANCE_KERNEL(kThreads) void ablate_decode_no_unpack_scale(GemmParams p) {
  decode_baseline<DecodeBaselineConfig{.ablation = {.no_unpack = true, .no_scale = true}}>(p);
}
RADIANCE_KERNEL(kThreads) void ablate_decode_no_lds(GemmParams p) {
  decode_baseline<DecodeBaselineConfig{.ablation = {.no_lds = true}}>(p);
}
RADIANCE_KERNEL(kThreads) void ablate_decode_staging4(GemmParams p) {
  decode_baseline<DecodeBaselineConfig{.staging_bytes = 4}>(p);
}
RADIANCE_KERNEL(kThreads) void ablate_decode_staging16(GemmParams p) {
  decode_baseline<DecodeBaselineConfig{.staging_bytes = 16}>(p);
}
RADIANCE_KERNEL(kThreads) void ablate_decode_priority(GemmParams p) {
  decode_baseline<DecodeBaselineConfig{.ablation = {.priority = true}}>(p);
}
RADIANCE_KERNEL(kThreads) void ablate_decode_prefetch(GemmParams p) {
  decode_baseline<DecodeBaselineConfig{.ablation = {.prefetch = true}}>(p);
}
RADIANCE_KERNEL(kThreads) void ablate_decode_register_prefetch(GemmParams p) {
  decode_baseline<DecodeBaselineConfig{.ablation = {.register_prefetch = true}}>(p);
}
RADIANCE_KERNEL(kThreads) void ablate_decode_cut_bf16(GemmParams p) {
  decode_baseline<DecodeBaselineConfig{.ablation = {.cut_bf16 = true}}>(p);
}

RADIANCE_KERNEL(kThreads) void ablate_prefill_no_unpack(GemmParams p) {
  prefill_baseline<PrefillBaselineConfig{.ablation = {.no_unpack = true}}>(p);
}
RADIANCE_KERNEL(kThreads) void ablate_prefill_no_scale(GemmParams p) {
  prefill_baseline<PrefillBaselineConfig{.ablation = {.no_scale = true}}>(p);
}
RADIANCE_KERNEL(kThreads) void ablate_prefill_no_unpack_scale(GemmParams p) {
  prefill_baseline<PrefillBaselineConfig{.ablation = {.no_unpack = true, .no_scale = true}}>(p);
}
RADIANCE_KERNEL(kThreads) void ablate_prefill_no_lds(GemmParams p) {
  prefill_baseline<PrefillBaselineConfig{.ablation = {.no_lds = true}}>(p);
}
RADIANCE_KERNEL(kThreads) void ablate_prefill_priority(GemmParams p) {
  prefill_baseline<PrefillBaselineConfig{.ablation = {.priority = true}}>(p);
}
RADIANCE_KERNEL(kThreads) void ablate_prefill_prefetch(GemmParams p) {
  prefill_baseline<PrefillBaselineConfig{.ablation = {.prefetch = true}}>(p);
}
RADIANCE_KERNEL(kThreads) void ablate_prefill_register_prefetch(GemmParams p) {
  prefill_baseline<PrefillBaselineConfig{.ablation = {.register_prefetch = true}}>(p);
}
RADIANCE_KERNEL(kThreads) void ablate_prefill_cut_bf16(GemmParams p) {
  prefill_baseline<PrefillBaselineConfig{.ablation = {.cut_bf16 = true}}>(p);
}

}  // namespace radiance::gfx1201
