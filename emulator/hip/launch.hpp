// Launching a kernel: checks what a program asked for, packs its arguments, runs it.
#pragma once

#include "emulator/hip/module.hpp"
#include "emulator/hip/types.hpp"

namespace radiance::emulator::hip {

// The chip's limits.
constexpr unsigned kMostThreads = 1024;       // of a workgroup
constexpr unsigned kMostLdsBytes = 64 << 10;  // of a workgroup
constexpr unsigned kWave = 32;

struct LaunchShape {
  Dimensions grid;         // in workgroups
  Dimensions block;        // in threads
  uint64_t lds_bytes = 0;  // dynamic
};

// Throws Failure with the code that HIP gives for what is wrong.
void check_shape(const Function& function, const LaunchShape& shape);

// `parameters` points at each argument, or `extra` at the whole buffer and its size.
std::vector<uint8_t> pack_arguments(const disasm::Kernel& kernel, void** parameters, void** extra);

// Checks, packs, and issues to the stream (which runs or captures it).
void launch_kernel(Function* handle, const LaunchShape& shape, Stream* stream, void** parameters,
                   void** extra);

}  // namespace radiance::emulator::hip
