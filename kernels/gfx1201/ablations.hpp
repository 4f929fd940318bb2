// The variants of ablation.hip: the baseline kernels with something left out or added.
#pragma once

#include <span>

#include "kernels/gfx1201/policy.hpp"

namespace radiance::gfx1201 {

struct AblationKernel {
  const char* config;    // "ablate/decode/r1/no_unpack"
  const char* function;  // in code object "ablation"
  Choice choice;         // how it is launched
  const char* what;
  bool right;  // whether its results are still right
};

std::span<const AblationKernel> ablation_kernels();

// Whether it can be launched for a weight and m rows.
bool takes(const AblationKernel& kernel, const WeightShape& shape, int64_t m);

// The one called `config`, null if there is none or it does not take the call.
const AblationKernel* find_ablation(const char* config, const WeightShape& shape, int64_t m);

}  // namespace radiance::gfx1201
