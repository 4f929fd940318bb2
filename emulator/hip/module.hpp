// Modules, their functions, and what a launch needs of them.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "emulator/emulator.hpp"
#include "emulator/hip/types.hpp"

namespace radiance::emulator::hip {

// hipFunction_t. Owned by its module; keeps the code alive while a graph holds it.
struct Function {
  std::shared_ptr<Module> module;
  const disasm::Kernel* kernel = nullptr;
};

// hipModule_t
struct LoadedModule {
  std::shared_ptr<Module> module;
  std::map<std::string, std::unique_ptr<Function>, std::less<>> functions;
};

// Loads an image of a known size. Throws Failure (invalid image, no binary for GPU).
LoadedModule* load_module(std::span<const uint8_t> file);
// Copies an image whose size its own headers tell: an ELF file or an uncompressed offload bundle.
// Throws Failure (invalid image) where headers or memory end early.
std::vector<uint8_t> copy_image(const void* image);
void unload_module(LoadedModule* module);

// Throws Failure (not found) naming the kernel and those that there are.
Function* find_function(LoadedModule* module, const char* name);
// The function behind a handle; throws Failure (invalid image, as HIP does) if it is none.
const Function& function_of(Function* handle);

struct Global {
  void* address = nullptr;
  size_t bytes = 0;
};
Global find_global(LoadedModule* module, const char* name);

void unload_all_modules();

}  // namespace radiance::emulator::hip
