#include "emulator/hip/module.hpp"

#include <fstream>
#include <iterator>
#include <mutex>

#include "emulator/hip/errors.hpp"
#include "emulator/hip/state.hpp"
#include "emulator/hip/stream.hpp"

namespace radiance::emulator::hip {
namespace {

struct Modules {
  std::mutex mutex;
  std::map<LoadedModule*, std::unique_ptr<LoadedModule>> loaded;
  std::map<Function*, LoadedModule*> functions;
};

Modules& modules() {
  static Modules* const only = new Modules;
  return *only;
}

// The lock must be held.
LoadedModule& find(LoadedModule* handle) {
  const auto found = modules().loaded.find(handle);
  require(found != modules().loaded.end(), kInvalidHandle, "that is no module");
  return *found->second;
}

std::string kernel_names(const Module& module) {
  std::string names;
  for (const disasm::Kernel& kernel : module.code().kernels()) {
    names += (names.empty() ? "" : ", ") + kernel.name;
  }
  return names.empty() ? "no kernel" : names;
}

std::vector<uint8_t> read_file(const char* path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) fail(kFileNotFound, std::string("cannot read ") + path);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

void load_data(LoadedModule** module, const void* image, const char* what) {
  require(module != nullptr && image != nullptr, kInvalidValue,
          "the pointer for the module, or the image, is null");
  forbid_during_capture(what);
  *module = load_module(copy_image(image));
}

}  // namespace

LoadedModule* load_module(std::span<const uint8_t> file) {
  auto made = std::make_unique<LoadedModule>();
  try {
    made->module = std::make_shared<Module>(state().memory(), file);
  } catch (const disasm::WrongTargetError& error) {
    fail(kNoBinaryForGpu, error.what());
  } catch (const disasm::CodeObjectError& error) {
    fail(kInvalidImage, error.what());
  }
  LoadedModule* const handle = made.get();
  const std::lock_guard lock(modules().mutex);
  modules().loaded[handle] = std::move(made);
  return handle;
}

void unload_module(LoadedModule* handle) {
  const std::lock_guard lock(modules().mutex);
  for (const auto& [name, function] : find(handle).functions) {
    modules().functions.erase(function.get());
  }
  modules().loaded.erase(handle);
}

Function* find_function(LoadedModule* handle, const char* name) {
  require(name != nullptr, kInvalidValue, "the kernel's name is null");
  const std::lock_guard lock(modules().mutex);
  LoadedModule& module = find(handle);
  const disasm::Kernel* kernel = module.module->find_kernel(name);
  if (kernel == nullptr) {
    fail(kNotFound, "the module has no kernel \"" + std::string(name) + "\" but " +
                        kernel_names(*module.module));
  }
  auto& function = module.functions[name];
  if (function == nullptr) function = std::make_unique<Function>(Function{module.module, kernel});
  modules().functions[function.get()] = handle;
  return function.get();
}

const Function& function_of(Function* handle) {
  const std::lock_guard lock(modules().mutex);
  require(modules().functions.contains(handle), kInvalidImage, "that is no kernel");
  return *handle;
}

Global find_global(LoadedModule* handle, const char* name) {
  require(name != nullptr, kInvalidValue, "the variable's name is null");
  const std::lock_guard lock(modules().mutex);
  const auto found = find(handle).module->find_global(name);
  if (!found) fail(kNotFound, "the module has no variable \"" + std::string(name) + "\"");
  return {found->first, found->second};
}

void unload_all_modules() {
  const std::lock_guard lock(modules().mutex);
  modules().functions.clear();
  modules().loaded.clear();
}

RADIANCE_HIP_EXPORT Result hipModuleLoad(LoadedModule** module, const char* path) {
  return device_api([&] {
    require(module != nullptr && path != nullptr, kInvalidValue,
            "the pointer for the module, or the path, is null");
    forbid_during_capture("hipModuleLoad");
    *module = load_module(read_file(path));
  });
}

RADIANCE_HIP_EXPORT Result hipModuleLoadData(LoadedModule** module, const void* image) {
  return device_api([&] { load_data(module, image, "hipModuleLoadData"); });
}

// The options are for a compiler that is not involved.
RADIANCE_HIP_EXPORT Result hipModuleLoadDataEx(LoadedModule** module, const void* image, unsigned,
                                               int*, void**) {
  return device_api([&] { load_data(module, image, "hipModuleLoadDataEx"); });
}

RADIANCE_HIP_EXPORT Result hipModuleUnload(LoadedModule* module) {
  return api([&] { unload_module(module); });
}

RADIANCE_HIP_EXPORT Result hipModuleGetFunction(Function** function, LoadedModule* module,
                                                const char* name) {
  return device_api([&] {
    require(function != nullptr, kInvalidValue, "the pointer for the function is null");
    *function = find_function(module, name);
  });
}

RADIANCE_HIP_EXPORT Result hipModuleGetGlobal(void** address, size_t* bytes, LoadedModule* module,
                                              const char* name) {
  return device_api([&] {
    const Global global = find_global(module, name);
    if (address != nullptr) *address = global.address;
    if (bytes != nullptr) *bytes = global.bytes;
  });
}

}  // namespace radiance::emulator::hip
