// The variants of ablation.hip, the baseline kernels with something left out or added, and of
// ablation_pipeline.hip, the shipped ones with something undone.
#pragma once

#include <span>

#include "kernels/gfx1201/policy.hpp"
#include "runtime/hip_module.hpp"

namespace radiance::gfx1201 {

struct AblationKernel {
  const char* config;  // "ablate/decode/r1/no_unpack"
  // Of its code object, which is "ablation" for a variant of a baseline, else "ablation_pipeline".
  const char* function;
  Choice choice;        // what it is a variant of, and how it is launched
  int first_row, rows;  // it takes calls of first_row..rows rows
  const char* what;
  bool right;  // whether its results are still right
};

std::span<const AblationKernel> ablation_kernels();

// Whether it can be launched for a weight and m rows.
bool takes(const AblationKernel& kernel, const WeightShape& shape, int64_t m, const Traits& traits);

// The one called `config`, null if there is none or it does not take the call.
const AblationKernel* find_ablation(const char* config, const WeightShape& shape, int64_t m,
                                    const Traits& traits);

// The loaded variants.
class Ablations {
 public:
  explicit Ablations(const HipDevice& device);
  hip::Function function(const AblationKernel& kernel) const;

 private:
  HipModule of_baseline_, of_shipped_;
};

}  // namespace radiance::gfx1201
