#include <charconv>

#include "runtime/cpu_device.hpp"
#include "runtime/cuda_device.hpp"

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

// The number behind "cuda:"; -1 if it is none.
int device_index(const std::string& text) {
  int index = -1;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), index);
  return error == std::errc() && end == text.data() + text.size() && index >= 0 ? index : -1;
}

std::unique_ptr<Device> open_best(int threads) {
  try {
    return std::make_unique<CudaDevice>("cuda:0", 0);
  } catch (const Error&) {
    return std::make_unique<CpuDevice>("cpu", supported_cpu_archs().front(), threads);
  }
}

}  // namespace

std::unique_ptr<Device> open_device(const std::string& name, const DeviceOptions& options) {
  if (options.threads < 0 || options.threads > 4096) {
    throw Error(RADIANCE_INVALID_ARGUMENT,
                "threads is " + std::to_string(options.threads) + ", not between 0 and 4096");
  }
  if (name.empty()) return open_best(options.threads);
  if (name.starts_with("cuda:")) {
    const int index = device_index(name.substr(5));
    if (index < 0) {
      throw Error(RADIANCE_INVALID_ARGUMENT, "device \"" + name + "\" is not of the form cuda:N");
    }
    return std::make_unique<CudaDevice>(name, index);
  }
  if (name == "cpu") {
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
  if (name.starts_with("hip:") || name == "emu") {
    throw Error(RADIANCE_NO_DEVICE,
                "device \"" + name + "\" is not part of this build, which has cpu and cuda");
  }
  throw Error(RADIANCE_INVALID_ARGUMENT,
              "no device is called \"" + name + "\"; names are cpu, cpu:ARCH, hip:N, cuda:N, emu");
}

}  // namespace radiance
