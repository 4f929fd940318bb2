// Kernels in assembly, assembled by clang when a test runs, and launched in the emulator.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "emulator/emulator.hpp"

namespace radiance::emulator::testing {

struct KernelSource {
  std::string body;  // instructions; s[0:1] is the address of the arguments
  unsigned lds_bytes = 0;
  unsigned scratch_bytes = 0;
  unsigned vgprs = 96;
  unsigned argument_bytes = 64;
};

// A code object of one kernel, "kernel". Throws where clang or lld says no.
std::vector<uint8_t> assemble(const KernelSource& source);

// Assembles and launches it with pointers as arguments.
LaunchResult run(Memory& memory, const KernelSource& source, std::span<void* const> arguments,
                 Dim3 grid, Dim3 block, const LaunchOptions& options);

// One buffer as the only argument; what it holds after the launch.
template <class T>
struct BufferRun {
  LaunchResult result;
  std::vector<T> out;
};

template <class T>
BufferRun<T> run_on(const KernelSource& source, const std::vector<T>& in, uint32_t items,
                    bool strict, uint32_t groups = 1) {
  Memory memory;
  void* buffer = memory.allocate(in.size() * sizeof(T));
  std::copy(in.begin(), in.end(), static_cast<T*>(buffer));
  LaunchOptions options;
  options.strict = strict;
  options.instruction_budget = 1000000;
  void* const arguments[] = {buffer};
  BufferRun<T> out;
  out.result = run(memory, source, arguments, {groups, 1, 1}, {items, 1, 1}, options);
  out.out.assign(static_cast<T*>(buffer), static_cast<T*>(buffer) + in.size());
  return out;
}

}  // namespace radiance::emulator::testing
