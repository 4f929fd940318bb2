// Which cpu kernel a call takes: a pure function of the instruction set and the rows.
#pragma once

#include "kernels/backend.hpp"
#include "kernels/cpu/gemm_kernel.hpp"
#include "runtime/cpu_features.hpp"

namespace radiance::cpu {

const ArchKernels& arch_kernels(CpuArch arch);

// Every configuration, the planned one first, then those for fewer rows, then those for more.
std::vector<Plan> plans(CpuArch arch, const WeightShape& shape, int64_t m);

// The kernel called `config`, or the planned one if null. Throws Error for an unknown name.
const GemmKernel& choose_kernel(CpuArch arch, int64_t m, const char* config);

}  // namespace radiance::cpu
