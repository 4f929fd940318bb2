#include "kernels/cpu/policy.hpp"

#include <string>

namespace radiance::cpu {

const ArchKernels& arch_kernels(CpuArch arch) {
  switch (arch) {
    case CpuArch::kAmx:
      return kAmxKernels;
    case CpuArch::kAvx512:
      return kAvx512Kernels;
    case CpuArch::kAvx2:
      return kAvx2Kernels;
    case CpuArch::kPortable:
      break;
  }
  return kPortableKernels;
}

int64_t decode_max_m(CpuArch arch) {
  switch (arch) {
    case CpuArch::kAmx:
      return 16;  // one A tile
    case CpuArch::kAvx512:
      return 8;  // one pass: every further pass of eight unpacks the codes again
    case CpuArch::kAvx2:
      return 2;  // a row costs 3 byte multiply-adds a weight, from 3 rows fp32 FMA is cheaper
    case CpuArch::kPortable:
      break;
  }
  return 64;  // both are one kernel
}

std::vector<Plan> plans(CpuArch arch, const WeightShape& shape, int64_t m) {
  const ArchKernels& kernels = arch_kernels(arch);
  const int64_t limit = decode_max_m(arch);
  const std::string size =
      std::to_string(m) + " rows of " + std::to_string(shape.n) + "x" + std::to_string(shape.k);
  const Plan decode = {kernels.decode.name,
                       size + ", up to " + std::to_string(limit) + ": codes unpacked in registers"};
  const Plan prefill = {kernels.prefill.name, size + ", more than " + std::to_string(limit) +
                                                  ": codes unpacked once into cache"};
  return m <= limit ? std::vector<Plan>{decode, prefill} : std::vector<Plan>{prefill, decode};
}

const GemmKernel& choose_kernel(CpuArch arch, int64_t m, const char* config) {
  const ArchKernels& kernels = arch_kernels(arch);
  if (config == nullptr) return m <= decode_max_m(arch) ? kernels.decode : kernels.prefill;
  for (const GemmKernel* kernel : {&kernels.decode, &kernels.prefill}) {
    if (std::string(config) == kernel->name) return *kernel;
  }
  throw Error(RADIANCE_INVALID_ARGUMENT, "no configuration is called \"" + std::string(config) +
                                             "\"; there are " + kernels.decode.name + " and " +
                                             kernels.prefill.name);
}

}  // namespace radiance::cpu
