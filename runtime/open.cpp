#include <charconv>

#include "runtime/cpu_device.hpp"
#include "runtime/cuda_device.hpp"
#include "runtime/hip_device.hpp"

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

// The number behind "cuda:" or "hip:". Throws Error if there is none.
int device_index(const std::string& name) {
  const std::string text = name.substr(name.find(':') + 1);
  int index = -1;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), index);
  if (error != std::errc() || end != text.data() + text.size() || index < 0) {
    throw Error(RADIANCE_INVALID_ARGUMENT, "device \"" + name + "\" is not of the form " +
                                               name.substr(0, name.find(':')) + ":N");
  }
  return index;
}

std::unique_ptr<Device> open_emulator(const DeviceOptions& options) {
  const hip::Driver& emulator = hip::emulator();
  const auto set = [&](const char* option, const std::string& value) {
    emulator.check(emulator.emulator.set_option(option, value.c_str()), "setting an option");
  };
  set("quiet", "1");  // what it has to say comes in the Error
  set("threads", std::to_string(options.threads));
  set("strict", options.strict ? "1" : "0");
  set("seed", options.order_seed ? std::to_string(*options.order_seed) : "none");
  return std::make_unique<HipDevice>(emulator, "emu", 0);
}

// A real device: the emulator is never the best.
std::unique_ptr<Device> open_best(int threads) {
  try {
    return std::make_unique<HipDevice>(hip::rocm(), "hip:0", 0);
  } catch (const Error&) {
    // Not here, or not a gfx1201.
  }
  try {
    return std::make_unique<CudaDevice>("cuda:0", 0);
  } catch (const Error&) {
    // Not here, or not a Hopper.
  }
  return std::make_unique<CpuDevice>("cpu", supported_cpu_archs().front(), threads);
}

}  // namespace

std::unique_ptr<Device> open_device(const std::string& name, const DeviceOptions& options) {
  if (options.threads < 0 || options.threads > 4096) {
    throw Error(RADIANCE_INVALID_ARGUMENT,
                "threads is " + std::to_string(options.threads) + ", not between 0 and 4096");
  }
  if (name != "emu" && (options.strict || options.order_seed)) {
    throw Error(RADIANCE_INVALID_ARGUMENT,
                "strict checks and a seed for the order of waves are for device \"emu\"");
  }
  if (name.empty()) return open_best(options.threads);
  if (name.starts_with("cuda:")) return std::make_unique<CudaDevice>(name, device_index(name));
  if (name.starts_with("hip:")) {
    const int index = device_index(name);
    return std::make_unique<HipDevice>(hip::rocm(), name, index);
  }
  if (name == "emu") return open_emulator(options);
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
  throw Error(RADIANCE_INVALID_ARGUMENT,
              "no device is called \"" + name + "\"; names are cpu, cpu:ARCH, hip:N, cuda:N, emu");
}

}  // namespace radiance
