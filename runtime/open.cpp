#include "runtime/cpu_device.hpp"

namespace radiance {
namespace {

std::string supported_names() {
  std::string names;
  for (const CpuArch arch : supported_cpu_archs()) {
    if (!names.empty()) names += ", ";
    names += std::string("cpu:") + cpu_arch_name(arch);
  }
  return names;
}

}  // namespace

std::unique_ptr<Device> open_device(const std::string& name, const DeviceOptions& options) {
  if (options.threads < 0 || options.threads > 4096) {
    throw Error(RADIANCE_INVALID_ARGUMENT,
                "threads is " + std::to_string(options.threads) + ", not between 0 and 4096");
  }
  if (name.empty() || name == "cpu") {
    return std::make_unique<CpuDevice>("cpu", supported_cpu_archs().front(), options.threads);
  }
  for (const CpuArch arch : supported_cpu_archs()) {
    if (name == std::string("cpu:") + cpu_arch_name(arch)) {
      return std::make_unique<CpuDevice>(name, arch, options.threads);
    }
  }
  if (name.starts_with("cpu:")) {
    throw Error(RADIANCE_NO_DEVICE,
                "device \"" + name + "\" cannot run here; this processor has " + supported_names());
  }
  if (name.starts_with("hip:") || name.starts_with("cuda:") || name == "emu") {
    throw Error(RADIANCE_NO_DEVICE,
                "device \"" + name + "\" is not part of this build, which has the cpu target");
  }
  throw Error(RADIANCE_INVALID_ARGUMENT,
              "no device is called \"" + name + "\"; names are cpu, cpu:ARCH, hip:N, cuda:N, emu");
}

}  // namespace radiance
