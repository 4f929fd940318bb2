// The baseline kernels with something left out or added, to see what it costs: `radiance
// ablate` counts it, ablations.cpp says what they are called.
#include "kernels/gfx1201/decode_baseline.hip.hpp"
#include "kernels/gfx1201/prefill_baseline.hip.hpp"

namespace radiance::gfx1201 {

RADIANCE_KERNEL(kThreads) void ablate_decode_r1_no_unpack(GemmParams p) {
  decode_baseline<DecodeBaselineConfig{.row_tiles = 1, .ablation = {.no_unpack = true}}>(p);
}
RADIANCE_KERNEL(kThreads) void ablate_decode_r1_no_scale(GemmParams p) {
  decode_baseline<DecodeBaselineConfig{.row_tiles = 1, .ablation = {.no_scale = true}}>(p);
}
RADIANCE_KERNEL(kThreads) void ablate_decode_r1_no_unpack_scale(GemmParams p) {
  decode_baseline<DecodeBaselineConfig{.row_tiles = 1,
                                       .ablation = {.no_unpack = true, .no_scale = true}}>(p);
}
RADIANCE_KERNEL(kThreads) void ablate_decode_r1_no_lds(GemmParams p) {
  decode_baseline<DecodeBaselineConfig{.row_tiles = 1, .ablation = {.no_lds = true}}>(p);
}
RADIANCE_KERNEL(kThreads) void ablate_decode_r1_staging4(GemmParams p) {
  decode_baseline<DecodeBaselineConfig{.row_tiles = 1, .staging_bytes = 4}>(p);
}
RADIANCE_KERNEL(kThreads) void ablate_decode_r1_staging16(GemmParams p) {
  decode_baseline<DecodeBaselineConfig{.row_tiles = 1, .staging_bytes = 16}>(p);
}
RADIANCE_KERNEL(kThreads) void ablate_decode_r1_priority(GemmParams p) {
  decode_baseline<DecodeBaselineConfig{.row_tiles = 1, .ablation = {.priority = true}}>(p);
}
RADIANCE_KERNEL(kThreads) void ablate_decode_r1_prefetch(GemmParams p) {
  decode_baseline<DecodeBaselineConfig{.row_tiles = 1, .ablation = {.prefetch = true}}>(p);
}
RADIANCE_KERNEL(kThreads) void ablate_decode_r1_register_prefetch(GemmParams p) {
  decode_baseline<DecodeBaselineConfig{.row_tiles = 1, .ablation = {.register_prefetch = true}}>(p);
}
RADIANCE_KERNEL(kThreads) void ablate_decode_r1_cut_bf16(GemmParams p) {
  decode_baseline<DecodeBaselineConfig{.row_tiles = 1, .ablation = {.cut_bf16 = true}}>(p);
}
RADIANCE_KERNEL(kThreads) void ablate_decode_r1_predicate(GemmParams p) {
  decode_baseline<DecodeBaselineConfig{.row_tiles = 1, .ablation = {.predicate = true}}>(p);
}
RADIANCE_KERNEL(kThreads) void ablate_decode_r1_late_scale(GemmParams p) {
  decode_baseline<DecodeBaselineConfig{.row_tiles = 1, .ablation = {.late_scale = true}}>(p);
}
RADIANCE_KERNEL(kThreads) void ablate_decode_r3_predicate(GemmParams p) {
  decode_baseline<DecodeBaselineConfig{.row_tiles = 3, .ablation = {.predicate = true}}>(p);
}
RADIANCE_KERNEL(kThreads) void ablate_decode_r3_late_scale(GemmParams p) {
  decode_baseline<DecodeBaselineConfig{.row_tiles = 3, .ablation = {.late_scale = true}}>(p);
}
RADIANCE_KERNEL(kThreads) void ablate_decode_r3_spare_row_tile(GemmParams p) {
  decode_baseline<DecodeBaselineConfig{.row_tiles = 4}>(p);
}
RADIANCE_KERNEL(kThreads) void ablate_decode_r3_no_unpack(GemmParams p) {
  decode_baseline<DecodeBaselineConfig{.row_tiles = 3, .ablation = {.no_unpack = true}}>(p);
}
RADIANCE_KERNEL(kThreads) void ablate_decode_r3_no_scale(GemmParams p) {
  decode_baseline<DecodeBaselineConfig{.row_tiles = 3, .ablation = {.no_scale = true}}>(p);
}
RADIANCE_KERNEL(kThreads) void ablate_decode_r3_no_unpack_scale(GemmParams p) {
  decode_baseline<DecodeBaselineConfig{.row_tiles = 3,
                                       .ablation = {.no_unpack = true, .no_scale = true}}>(p);
}
RADIANCE_KERNEL(kThreads) void ablate_decode_r3_no_lds(GemmParams p) {
  decode_baseline<DecodeBaselineConfig{.row_tiles = 3, .ablation = {.no_lds = true}}>(p);
}
RADIANCE_KERNEL(kThreads) void ablate_prefill_n2_no_unpack(GemmParams p) {
  prefill_baseline<PrefillBaselineConfig{.ablation = {.no_unpack = true}}>(p);
}
RADIANCE_KERNEL(kThreads) void ablate_prefill_n2_no_scale(GemmParams p) {
  prefill_baseline<PrefillBaselineConfig{.ablation = {.no_scale = true}}>(p);
}
RADIANCE_KERNEL(kThreads) void ablate_prefill_n2_no_unpack_scale(GemmParams p) {
  prefill_baseline<PrefillBaselineConfig{.ablation = {.no_unpack = true, .no_scale = true}}>(p);
}
RADIANCE_KERNEL(kThreads) void ablate_prefill_n2_no_lds(GemmParams p) {
  prefill_baseline<PrefillBaselineConfig{.ablation = {.no_lds = true}}>(p);
}
RADIANCE_KERNEL(kThreads) void ablate_prefill_n2_priority(GemmParams p) {
  prefill_baseline<PrefillBaselineConfig{.ablation = {.priority = true}}>(p);
}
RADIANCE_KERNEL(kThreads) void ablate_prefill_n2_prefetch(GemmParams p) {
  prefill_baseline<PrefillBaselineConfig{.ablation = {.prefetch = true}}>(p);
}
RADIANCE_KERNEL(kThreads) void ablate_prefill_n2_register_prefetch(GemmParams p) {
  prefill_baseline<PrefillBaselineConfig{.ablation = {.register_prefetch = true}}>(p);
}
RADIANCE_KERNEL(kThreads) void ablate_prefill_n2_predicate(GemmParams p) {
  prefill_baseline<PrefillBaselineConfig{.ablation = {.predicate = true}}>(p);
}
RADIANCE_KERNEL(kThreads) void ablate_prefill_n2_reread_weights(GemmParams p) {
  prefill_baseline<PrefillBaselineConfig{.ablation = {.reread_weights = true}}>(p);
}
// Left alone the compiler takes 168 registers where it has fewer to convert, here and below.
RADIANCE_KERNEL(kThreads)
__attribute__((amdgpu_waves_per_eu(10))) void ablate_prefill_n2_ragged_epilogue(GemmParams p) {
  prefill_baseline<PrefillBaselineConfig{.ablation = {.ragged_epilogue = true}}>(p);
}
RADIANCE_KERNEL(kThreads) void ablate_prefill_n2_late_scale(GemmParams p) {
  prefill_baseline<PrefillBaselineConfig{.ablation = {.late_scale = true}}>(p);
}
RADIANCE_KERNEL(kThreads)
__attribute__((amdgpu_waves_per_eu(10))) void ablate_prefill_n2_cut_bf16(GemmParams p) {
  prefill_baseline<PrefillBaselineConfig{.ablation = {.cut_bf16 = true}}>(p);
}

}  // namespace radiance::gfx1201
