#include "kernels/gfx1201/ablations.hpp"

#include <cstring>

namespace radiance::gfx1201 {
namespace {

constexpr Choice decode_choice(int row_tiles) {
  Choice choice;
  choice.kernel = Kernel::kDecode;
  choice.baseline = true;
  choice.row_tiles = row_tiles;
  return choice;
}

constexpr Choice prefill_choice() {
  Choice choice;
  choice.kernel = Kernel::kPrefill;
  choice.baseline = true;
  return choice;
}

constexpr AblationKernel kKernels[] = {
    {"ablate/decode/r1/no_unpack", "ablate_decode_r1_no_unpack", decode_choice(1),
     "codes go to the matrix unit as they are", false},
    {"ablate/decode/r1/no_scale", "ablate_decode_r1_no_scale", decode_choice(1),
     "scales are neither loaded nor multiplied", false},
    {"ablate/decode/r1/no_unpack_scale", "ablate_decode_r1_no_unpack_scale", decode_choice(1),
     "neither unpack nor scales", false},
    {"ablate/decode/r1/no_lds", "ablate_decode_r1_no_lds", decode_choice(1),
     "weights stay in the registers of the unpack", false},
    {"ablate/decode/r1/staging4", "ablate_decode_r1_staging4", decode_choice(1),
     "weights staged 4 bytes a thread", true},
    {"ablate/decode/r1/staging16", "ablate_decode_r1_staging16", decode_choice(1),
     "weights staged 16 bytes a thread", true},
    {"ablate/decode/r1/priority", "ablate_decode_r1_priority", decode_choice(1),
     "s_setprio around the multiplication", true},
    {"ablate/decode/r1/prefetch", "ablate_decode_r1_prefetch", decode_choice(1),
     "s_prefetch_data of the next codes", true},
    {"ablate/decode/r1/register_prefetch", "ablate_decode_r1_register_prefetch", decode_choice(1),
     "the next loads under way during the multiplication", true},
    {"ablate/decode/r1/cut_bf16", "ablate_decode_r1_cut_bf16", decode_choice(1),
     "bfloat16 cut instead of rounded", false},
    {"ablate/decode/r3/no_unpack", "ablate_decode_r3_no_unpack", decode_choice(3),
     "codes go to the matrix unit as they are", false},
    {"ablate/decode/r3/no_scale", "ablate_decode_r3_no_scale", decode_choice(3),
     "scales are neither loaded nor multiplied", false},
    {"ablate/decode/r3/no_unpack_scale", "ablate_decode_r3_no_unpack_scale", decode_choice(3),
     "neither unpack nor scales", false},
    {"ablate/decode/r3/no_lds", "ablate_decode_r3_no_lds", decode_choice(3),
     "weights stay in the registers of the unpack", false},
    {"ablate/prefill/n2/no_unpack", "ablate_prefill_n2_no_unpack", prefill_choice(),
     "codes go to the matrix unit as they are", false},
    {"ablate/prefill/n2/no_scale", "ablate_prefill_n2_no_scale", prefill_choice(),
     "scales are neither loaded nor multiplied", false},
    {"ablate/prefill/n2/no_unpack_scale", "ablate_prefill_n2_no_unpack_scale", prefill_choice(),
     "neither unpack nor scales", false},
    {"ablate/prefill/n2/no_lds", "ablate_prefill_n2_no_lds", prefill_choice(),
     "weights stay in the registers of the unpack", false},
    {"ablate/prefill/n2/priority", "ablate_prefill_n2_priority", prefill_choice(),
     "s_setprio around the multiplication", true},
    {"ablate/prefill/n2/prefetch", "ablate_prefill_n2_prefetch", prefill_choice(),
     "s_prefetch_data of the next codes", true},
    {"ablate/prefill/n2/register_prefetch", "ablate_prefill_n2_register_prefetch", prefill_choice(),
     "the next loads under way during the multiplication", true},
    {"ablate/prefill/n2/cut_bf16", "ablate_prefill_n2_cut_bf16", prefill_choice(),
     "bfloat16 cut instead of rounded", false},
};

}  // namespace

std::span<const AblationKernel> ablation_kernels() { return kKernels; }

bool takes(const AblationKernel& kernel, const WeightShape& shape, int64_t m) {
  if (shape.format != RADIANCE_AUTOROUND_INT4 || scale_folds(shape, true) != 1) return false;
  const int64_t most = kernel.choice.row_tiles * kTileM;
  return kernel.choice.kernel == Kernel::kPrefill || (m <= most && m > most - kTileM);
}

const AblationKernel* find_ablation(const char* config, const WeightShape& shape, int64_t m) {
  if (config == nullptr) return nullptr;
  for (const AblationKernel& kernel : kKernels) {
    if (std::strcmp(kernel.config, config) == 0 && takes(kernel, shape, m)) return &kernel;
  }
  return nullptr;
}

}  // namespace radiance::gfx1201
