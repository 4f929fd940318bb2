#include "kernels/cpu/policy.hpp"

#include <string>

namespace radiance::cpu {

const ArchKernels& arch_kernels(CpuArch arch) {
  switch (arch) {
    case CpuArch::kAmx:
      return kAmxKernels;
    case CpuArch::kAvx512:
      return has_split_bf16_dot() ? kAvx512SplitDotKernels : kAvx512Kernels;
    case CpuArch::kAvx2:
      return has_avx_vnni() ? kAvx2VnniKernels : kAvx2Kernels;
    case CpuArch::kPortable:
      break;
  }
  return kPortableKernels;
}

namespace {

int planned(const ArchKernels& kernels, int64_t m) {
  int i = 0;
  while (kernels.gemm[i].planned_m < m) ++i;
  return i;
}

std::string range_of(const ArchKernels& kernels, int i) {
  const int64_t most = kernels.gemm[i].planned_m;
  return most == kAnyM ? "for more than " + std::to_string(kernels.gemm[i - 1].planned_m) + " rows"
                       : "for up to " + std::to_string(most) + " rows";
}

}  // namespace

std::vector<Plan> plans(CpuArch arch, const WeightShape& shape, int64_t m) {
  const ArchKernels& kernels = arch_kernels(arch);
  const std::string size =
      std::to_string(m) + " rows of " + std::to_string(shape.n) + "x" + std::to_string(shape.k);
  const int best = planned(kernels, m);
  std::vector<Plan> all;
  const auto add = [&](int i) {
    all.push_back({kernels.gemm[i].name, size + ": the kernel " + range_of(kernels, i)});
  };
  for (int i = best; i >= 0; --i) add(i);
  for (int i = best + 1; i < kernels.gemm_count; ++i) add(i);
  return all;
}

const GemmKernel& choose_kernel(CpuArch arch, int64_t m, const char* config) {
  const ArchKernels& kernels = arch_kernels(arch);
  if (config == nullptr) return kernels.gemm[planned(kernels, m)];
  std::string names;
  for (int i = 0; i < kernels.gemm_count; ++i) {
    if (std::string(config) == kernels.gemm[i].name) return kernels.gemm[i];
    names += std::string(" ") + kernels.gemm[i].name;
  }
  throw Error(RADIANCE_INVALID_ARGUMENT,
              "no configuration is called \"" + std::string(config) + "\"; there are" + names);
}

}  // namespace radiance::cpu
