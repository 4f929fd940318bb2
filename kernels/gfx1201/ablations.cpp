#include "kernels/gfx1201/ablations.hpp"

#include <cstring>
#include <limits>

#include "kernels/gfx1201/code_objects.hpp"

namespace radiance::gfx1201 {
namespace {

constexpr Choice decode_choice(int row_tiles, bool baseline) {
  Choice choice;
  choice.kernel = Kernel::kDecode;
  choice.baseline = baseline;
  choice.row_tiles = row_tiles;
  return choice;
}

constexpr Choice prefill_choice(bool baseline) {
  Choice choice;
  choice.kernel = Kernel::kPrefill;
  choice.baseline = baseline;
  return choice;
}

// What is common to the variants of one kernel, and takes the rows that it takes.
struct Family {
  Choice choice;
  int first_row, rows;
};
constexpr Family decode_family(int row_tiles, bool baseline) {
  return {decode_choice(row_tiles, baseline), (row_tiles - 1) * kTileM + 1, row_tiles * kTileM};
}
constexpr int kAnyRows = std::numeric_limits<int>::max();

constexpr AblationKernel variant(const Family& family, const char* config, const char* function,
                                 const char* what, bool right) {
  return {config, function, family.choice, family.first_row, family.rows, what, right};
}

constexpr Family kBaseline1 = decode_family(1, true), kBaseline3 = decode_family(3, true);
constexpr Family kBaselinePrefill = {prefill_choice(true), 1, kAnyRows};
constexpr Family kDecode1 = decode_family(1, false), kDecode2 = decode_family(2, false),
                 kDecode4 = decode_family(4, false);
constexpr Family kPrefill = {prefill_choice(false), 1, kAnyRows};
constexpr Family few_rows(int rows) { return {decode_choice(1, false), 1, rows}; }

constexpr AblationKernel kKernels[] = {
    variant(kBaseline1, "ablate/decode/r1/no_unpack", "ablate_decode_r1_no_unpack",
            "codes go to the matrix unit as they are", false),
    variant(kBaseline1, "ablate/decode/r1/no_scale", "ablate_decode_r1_no_scale",
            "scales are neither loaded nor multiplied", false),
    variant(kBaseline1, "ablate/decode/r1/no_unpack_scale", "ablate_decode_r1_no_unpack_scale",
            "neither unpack nor scales", false),
    variant(kBaseline1, "ablate/decode/r1/no_lds", "ablate_decode_r1_no_lds",
            "weights stay in the registers of the unpack", false),
    variant(kBaseline1, "ablate/decode/r1/staging4", "ablate_decode_r1_staging4",
            "weights staged 4 bytes a thread", true),
    variant(kBaseline1, "ablate/decode/r1/staging16", "ablate_decode_r1_staging16",
            "weights staged 16 bytes a thread", true),
    variant(kBaseline1, "ablate/decode/r1/priority", "ablate_decode_r1_priority",
            "s_setprio around the multiplication", true),
    variant(kBaseline1, "ablate/decode/r1/prefetch", "ablate_decode_r1_prefetch",
            "s_prefetch_data of the next codes", true),
    variant(kBaseline1, "ablate/decode/r1/register_prefetch", "ablate_decode_r1_register_prefetch",
            "the next loads under way during the multiplication", true),
    variant(kBaseline1, "ablate/decode/r1/predicate", "ablate_decode_r1_predicate",
            "rows and features past the end are not loaded, where the last are loaded again", true),
    variant(kBaseline1, "ablate/decode/r1/late_scale", "ablate_decode_r1_late_scale",
            "scales are loaded behind the barrier", true),
    variant(kBaseline1, "ablate/decode/r1/cut_bf16", "ablate_decode_r1_cut_bf16",
            "bfloat16 cut instead of rounded", false),
    variant(kBaseline3, "ablate/decode/r3/no_unpack", "ablate_decode_r3_no_unpack",
            "codes go to the matrix unit as they are", false),
    variant(kBaseline3, "ablate/decode/r3/no_scale", "ablate_decode_r3_no_scale",
            "scales are neither loaded nor multiplied", false),
    variant(kBaseline3, "ablate/decode/r3/no_unpack_scale", "ablate_decode_r3_no_unpack_scale",
            "neither unpack nor scales", false),
    variant(kBaseline3, "ablate/decode/r3/no_lds", "ablate_decode_r3_no_lds",
            "weights stay in the registers of the unpack", false),
    variant(kBaseline3, "ablate/decode/r3/predicate", "ablate_decode_r3_predicate",
            "rows and features past the end are not loaded, where the last are loaded again", true),
    variant(kBaseline3, "ablate/decode/r3/late_scale", "ablate_decode_r3_late_scale",
            "scales are loaded behind the barrier", true),
    variant(kBaseline3, "ablate/decode/r3/spare_row_tile", "ablate_decode_r3_spare_row_tile",
            "a row tile more than the rows need", true),
    variant(kBaselinePrefill, "ablate/prefill/n2/no_unpack", "ablate_prefill_n2_no_unpack",
            "codes go to the matrix unit as they are", false),
    variant(kBaselinePrefill, "ablate/prefill/n2/no_scale", "ablate_prefill_n2_no_scale",
            "scales are neither loaded nor multiplied", false),
    variant(kBaselinePrefill, "ablate/prefill/n2/no_unpack_scale",
            "ablate_prefill_n2_no_unpack_scale", "neither unpack nor scales", false),
    variant(kBaselinePrefill, "ablate/prefill/n2/no_lds", "ablate_prefill_n2_no_lds",
            "weights stay in the registers of the unpack", false),
    variant(kBaselinePrefill, "ablate/prefill/n2/priority", "ablate_prefill_n2_priority",
            "s_setprio around the multiplication", true),
    variant(kBaselinePrefill, "ablate/prefill/n2/prefetch", "ablate_prefill_n2_prefetch",
            "s_prefetch_data of the next codes", true),
    variant(kBaselinePrefill, "ablate/prefill/n2/register_prefetch",
            "ablate_prefill_n2_register_prefetch",
            "the next loads under way during the multiplication", true),
    variant(kBaselinePrefill, "ablate/prefill/n2/predicate", "ablate_prefill_n2_predicate",
            "rows and features past the end are not loaded, where the last are loaded again", true),
    variant(kBaselinePrefill, "ablate/prefill/n2/late_scale", "ablate_prefill_n2_late_scale",
            "scales are loaded behind the barrier", true),
    variant(kBaselinePrefill, "ablate/prefill/n2/reread_weights",
            "ablate_prefill_n2_reread_weights",
            "a weight's fragment read from LDS once for each row tile", true),
    variant(kBaselinePrefill, "ablate/prefill/n2/ragged_epilogue",
            "ablate_prefill_n2_ragged_epilogue", "no epilogue of their own for whole blocks", true),
    variant(kBaselinePrefill, "ablate/prefill/n2/cut_bf16", "ablate_prefill_n2_cut_bf16",
            "bfloat16 cut instead of rounded", false),
    variant(kDecode1, "ablate/decode/r1/whole_barriers", "ablate_decode_r1_whole_barriers",
            "barriers in one piece, not arrival and wait apart", true),
    variant(kDecode1, "ablate/decode/r1/one_buffer", "ablate_decode_r1_one_buffer",
            "rows in one LDS buffer, two barriers a slab", true),
    variant(kDecode1, "ablate/decode/r1/transposed_loads", "ablate_decode_r1_transposed_loads",
            "codes by global_load_tr_b64", false),
    variant(few_rows(1), "ablate/decode/r1/dot1", "ablate_decode_r1_dot1",
            "one row by dot products, without the matrix unit", true),
    variant(few_rows(2), "ablate/decode/r1/dot2", "ablate_decode_r1_dot2",
            "up to two rows by dot products", true),
    variant(few_rows(4), "ablate/decode/r1/dot4", "ablate_decode_r1_dot4",
            "up to four rows by dot products", true),
    variant(kDecode2, "ablate/decode/r2/whole_barriers", "ablate_decode_r2_whole_barriers",
            "barriers in one piece, not arrival and wait apart", true),
    variant(kDecode4, "ablate/decode/r4/one_buffer", "ablate_decode_r4_one_buffer",
            "rows in one LDS buffer, two barriers a slab", true),
    variant(kPrefill, "ablate/prefill/n2/whole_barriers", "ablate_prefill_n2_whole_barriers",
            "barriers in one piece, not arrival and wait apart", true),
};

}  // namespace

std::span<const AblationKernel> ablation_kernels() { return kKernels; }

bool takes(const AblationKernel& kernel, const WeightShape& shape, int64_t m,
           const Traits& traits) {
  if (shape.format != RADIANCE_AUTOROUND_INT4 || scale_folds(shape, true) != 1) return false;
  if (!kernel.choice.baseline && !traits.keeps_subnormals) return false;
  return m >= kernel.first_row && m <= kernel.rows;
}

const AblationKernel* find_ablation(const char* config, const WeightShape& shape, int64_t m,
                                    const Traits& traits) {
  if (config == nullptr) return nullptr;
  for (const AblationKernel& kernel : kKernels) {
    if (std::strcmp(kernel.config, config) == 0 && takes(kernel, shape, m, traits)) return &kernel;
  }
  return nullptr;
}

Ablations::Ablations(const HipDevice& device)
    : of_baseline_(device, code_object("ablation").data()),
      of_shipped_(device, code_object("ablation_pipeline").data()) {}

hip::Function Ablations::function(const AblationKernel& kernel) const {
  return (kernel.choice.baseline ? of_baseline_ : of_shipped_).function(kernel.function);
}

}  // namespace radiance::gfx1201
