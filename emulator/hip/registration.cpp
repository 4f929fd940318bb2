// What a compiler's generated code calls: kernels and variables that are linked into a program, and
// launches by the address of a host function (kernel<<<grid, block>>>(...)).
#include "emulator/hip/registration.hpp"

#include <map>
#include <mutex>
#include <vector>

#include "emulator/hip/errors.hpp"
#include "emulator/hip/launch.hpp"
#include "emulator/hip/state.hpp"
#include "emulator/hip/stream.hpp"

namespace radiance::emulator::hip {
namespace {

// What __hipRegisterFatBinary is given.
struct FatBinary {
  uint32_t magic;
  uint32_t version;
  const void* bundle;
  void* unused;
};
constexpr uint32_t kFatBinaryMagic = 0x48495046;  // "HIPF"

struct Registered {
  const void* bundle = nullptr;
  LoadedModule* module = nullptr;  // loaded when first used
};

struct Symbol {
  Registered* binary = nullptr;
  std::string name;
};

struct Registry {
  std::mutex mutex;
  std::map<void**, std::unique_ptr<Registered>> binaries;
  std::map<const void*, Symbol> kernels;
  std::map<const void*, Symbol> variables;
};

Registry& registry() {
  static Registry* const only = new Registry;
  return *only;
}

// The lock must be held. A module that hipDeviceReset unloaded is loaded again.
LoadedModule* module_of(Registered& binary) {
  if (binary.module == nullptr) binary.module = load_module(copy_image(binary.bundle));
  return binary.module;
}

Function* registered_kernel(const void* host_function) {
  const std::lock_guard lock(registry().mutex);
  const auto found = registry().kernels.find(host_function);
  require(found != registry().kernels.end(), kInvalidDeviceFunction,
          "no kernel is registered for that host function");
  return find_function(module_of(*found->second.binary), found->second.name.c_str());
}

struct Configuration {
  Dimensions grid, block;
  size_t lds_bytes;
  Stream* stream;
};

std::vector<Configuration>& configurations() {
  thread_local std::vector<Configuration> stack;
  return stack;
}

Registered* registered(void** handle) {
  const auto found = registry().binaries.find(handle);
  return found == registry().binaries.end() ? nullptr : found->second.get();
}

}  // namespace

Global registered_variable(const void* host_variable) {
  const std::lock_guard lock(registry().mutex);
  const auto found = registry().variables.find(host_variable);
  require(found != registry().variables.end(), kInvalidSymbol,
          "no variable is registered for that host variable");
  return find_global(module_of(*found->second.binary), found->second.name.c_str());
}

// The names that compilers call. NOLINTBEGIN(bugprone-reserved-identifier)
RADIANCE_HIP_EXPORT void** __hipRegisterFatBinary(const void* data) {
  auto made = std::make_unique<Registered>();
  const auto* binary = static_cast<const FatBinary*>(data);
  if (binary != nullptr && binary->magic == kFatBinaryMagic) made->bundle = binary->bundle;
  auto* const handle = reinterpret_cast<void**>(made.get());
  const std::lock_guard lock(registry().mutex);
  registry().binaries[handle] = std::move(made);
  return handle;
}

RADIANCE_HIP_EXPORT void __hipUnregisterFatBinary(void** handle) {
  const std::lock_guard lock(registry().mutex);
  Registered* const binary = registered(handle);
  const auto belongs = [binary](const auto& entry) { return entry.second.binary == binary; };
  std::erase_if(registry().kernels, belongs);
  std::erase_if(registry().variables, belongs);
  registry().binaries.erase(handle);
}

RADIANCE_HIP_EXPORT void __hipRegisterFunction(void** handle, const void* host_function, char*,
                                               const char* name, unsigned, void*, void*, void*,
                                               void*, int*) {
  const std::lock_guard lock(registry().mutex);
  registry().kernels[host_function] = {registered(handle), name};
}

RADIANCE_HIP_EXPORT void __hipRegisterVar(void** handle, void* host_variable, char*, char* name,
                                          int, size_t, int, int) {
  const std::lock_guard lock(registry().mutex);
  registry().variables[host_variable] = {registered(handle), name};
}

RADIANCE_HIP_EXPORT Result __hipPushCallConfiguration(Dimensions grid, Dimensions block,
                                                      size_t lds_bytes, Stream* stream) {
  return api([&] { configurations().push_back({grid, block, lds_bytes, stream}); });
}

RADIANCE_HIP_EXPORT Result __hipPopCallConfiguration(Dimensions* grid, Dimensions* block,
                                                     size_t* lds_bytes, Stream** stream) {
  return api([&] {
    require(!configurations().empty(), kMissingConfiguration, "no launch was configured");
    const Configuration& top = configurations().back();
    *grid = top.grid;
    *block = top.block;
    *lds_bytes = top.lds_bytes;
    *stream = top.stream;
    configurations().pop_back();
  });
}

// NOLINTEND(bugprone-reserved-identifier)

RADIANCE_HIP_EXPORT Result hipLaunchKernel(const void* host_function, Dimensions grid,
                                           Dimensions block, void** parameters, size_t lds_bytes,
                                           Stream* stream) {
  return device_api([&] {
    launch_kernel(registered_kernel(host_function), {grid, block, lds_bytes}, stream, parameters,
                  nullptr);
  });
}

RADIANCE_HIP_EXPORT Result hipGetFuncBySymbol(Function** function, const void* host_function) {
  return device_api([&] {
    require(function != nullptr, kInvalidValue, "the pointer for the function is null");
    *function = registered_kernel(host_function);
  });
}

// Dynamic LDS needs no opting in on this chip; what does not fit is refused at launch.
RADIANCE_HIP_EXPORT Result hipFuncSetAttribute(const void*, int attribute, int value) {
  return device_api([&] {
    require((attribute == kMaxDynamicSharedSizeBytes && value >= 0 &&
             value <= static_cast<int>(kMostLdsBytes)) ||
                attribute == kPreferredSharedMemoryCarveout,
            kInvalidValue, "a kernel's attribute or its value cannot be set");
  });
}

RADIANCE_HIP_EXPORT Result hipFuncGetAttributes(FunctionAttributes* attributes,
                                                const void* host_function) {
  return device_api([&] {
    require(attributes != nullptr, kInvalidValue, "the pointer for the attributes is null");
    const disasm::Kernel& kernel = *function_of(registered_kernel(host_function)).kernel;
    *attributes = {};
    attributes->local_size_bytes = kernel.descriptor.private_segment_bytes;
    attributes->shared_size_bytes = kernel.descriptor.group_segment_bytes;
    attributes->max_dynamic_shared_size_bytes =
        static_cast<int>(kMostLdsBytes - kernel.descriptor.group_segment_bytes);
    attributes->max_threads_per_block = static_cast<int>(kernel.max_workgroup_size);
    attributes->num_regs = static_cast<int>(kernel.vgprs);
  });
}

}  // namespace radiance::emulator::hip
