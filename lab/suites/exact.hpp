// One-hot activations: each output is 448 times one weight, exactly.
#pragma once

#include <string>

#include "lab/gate.hpp"
#include "lab/inputs.hpp"

namespace radiance::lab {

// Whether a backend must have decode and prefill kernels for a weight's shape.
enum class FastKernels { kRequired, kIfThere };

// Reads every weight of `weight` through the device, a row of fp32 outputs per k, and wants each to
// be exact: one case for the decode configurations (64 rows a call) and one for prefill's (all rows
// in one call). A case that launches more than once reports the worst. Where there are no such
// configurations the case fails, or with kIfThere runs the policy's and notes that.
void add_one_hot_cases(Gate& gate, const std::string& suite, const std::string& name,
                       const HostWeight& weight, FastKernels fast = FastKernels::kIfThere);

}  // namespace radiance::lab
