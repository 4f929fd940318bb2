#include "emulator/hip/launch.hpp"

#include <algorithm>
#include <cstring>

#include "emulator/hip/errors.hpp"
#include "emulator/hip/state.hpp"
#include "emulator/hip/stream.hpp"

namespace radiance::emulator::hip {
namespace {

bool any_zero(const Dimensions& d) { return d.x == 0 || d.y == 0 || d.z == 0; }

std::string text(const Dimensions& d) {
  return std::to_string(d.x) + " x " + std::to_string(d.y) + " x " + std::to_string(d.z);
}

uint64_t threads_of(const Dimensions& d) { return uint64_t{d.x} * d.y * d.z; }

bool is_hidden(const disasm::KernelArgument& argument) {
  return argument.kind.starts_with("hidden_");
}

std::vector<uint8_t> from_parameters(const disasm::Kernel& kernel, void** parameters) {
  std::vector<uint8_t> bytes;
  size_t index = 0;
  for (const disasm::KernelArgument& argument : kernel.arguments) {
    if (is_hidden(argument)) continue;
    const void* value = parameters == nullptr ? nullptr : parameters[index];
    if (value == nullptr) {
      fail(kInvalidValue,
           "argument " + std::to_string(index) + " of kernel " + kernel.name + " is not given");
    }
    bytes.resize(std::max<size_t>(bytes.size(), size_t{argument.offset} + argument.size));
    std::memcpy(bytes.data() + argument.offset, value, argument.size);
    ++index;
  }
  return bytes;
}

// A list of tagged pointers; without both the buffer and its size, HIP says "not initialized".
std::vector<uint8_t> from_extra(const disasm::Kernel& kernel, void** extra) {
  const uint8_t* buffer = nullptr;
  const size_t* size = nullptr;
  for (int i = 0; i < 2; ++i, extra += 2) {
    const auto tag = reinterpret_cast<uintptr_t>(extra[0]);
    if (tag == kLaunchParamBufferPointer) buffer = static_cast<const uint8_t*>(extra[1]);
    if (tag == kLaunchParamBufferSize) size = static_cast<const size_t*>(extra[1]);
    if (tag == kLaunchParamEnd) break;
  }
  require(buffer != nullptr && size != nullptr, kNotInitialized,
          "the launch's extra list holds no argument buffer and its size");
  size_t explicit_bytes = 0;
  for (const disasm::KernelArgument& argument : kernel.arguments) {
    if (!is_hidden(argument)) {
      explicit_bytes = std::max<size_t>(explicit_bytes, size_t{argument.offset} + argument.size);
    }
  }
  // Compilers round a struct's size up to its alignment.
  constexpr size_t kPadding = 16;
  const size_t most = std::max<size_t>(explicit_bytes, kernel.descriptor.kernarg_bytes);
  if (*size < explicit_bytes || *size >= most + kPadding) {
    fail(kInvalidValue, "kernel " + kernel.name + " takes " + std::to_string(explicit_bytes) +
                            " bytes of arguments, but the buffer has " + std::to_string(*size));
  }
  return {buffer, buffer + std::min(*size, most)};
}

struct Launch {
  Function function;
  LaunchShape shape;
  std::vector<uint8_t> arguments;

  void run() const {
    const Dimensions &g = shape.grid, &b = shape.block;
    const LaunchResult result = emulator::launch(
        state().memory(), *function.module, *function.kernel, {g.x, g.y, g.z}, {b.x, b.y, b.z},
        static_cast<uint32_t>(shape.lds_bytes), arguments, state().next_launch());
    state().count(function.kernel->name, result.counters);
    if (result.ok()) return;
    if (result.status == LaunchStatus::kBadConfiguration) fail(kInvalidValue, result.error);
    set_device_error(kLaunchFailure, result.error);
    fail(kLaunchFailure, result.error);
  }
};

}  // namespace

void check_shape(const Function& function, const LaunchShape& shape) {
  const disasm::Kernel& kernel = *function.kernel;
  const std::string launch = "the launch of " + kernel.name;
  if (any_zero(shape.grid) || any_zero(shape.block)) {
    fail(kInvalidValue, launch + " has a grid of " + text(shape.grid) + " and a block of " +
                            text(shape.block) + ": none may be 0");
  }
  const uint64_t threads = threads_of(shape.block);
  if (std::max({shape.block.x, shape.block.y, shape.block.z}) > kMostThreads ||
      threads > kMostThreads) {
    fail(kInvalidConfiguration, launch + " has a block of " + text(shape.block) +
                                    ", which is more than " + std::to_string(kMostThreads) +
                                    " threads");
  }
  if (threads > kernel.max_workgroup_size) {
    fail(kLaunchFailure, launch + " has a block of " + std::to_string(threads) +
                             " threads, but it was compiled for at most " +
                             std::to_string(kernel.max_workgroup_size));
  }
  for (const uint64_t items :
       {uint64_t{shape.grid.x} * shape.block.x, uint64_t{shape.grid.y} * shape.block.y,
        uint64_t{shape.grid.z} * shape.block.z}) {
    if (items > UINT32_MAX) {
      fail(kInvalidConfiguration, launch + " has a grid of " + text(shape.grid) +
                                      ": 2^32 threads or more in one direction");
    }
  }
  const uint64_t lds = uint64_t{kernel.descriptor.group_segment_bytes} + shape.lds_bytes;
  if (lds > kMostLdsBytes) {
    fail(kOutOfMemory, launch + " needs " + std::to_string(lds) + " bytes of LDS; there are " +
                           std::to_string(kMostLdsBytes));
  }
}

std::vector<uint8_t> pack_arguments(const disasm::Kernel& kernel, void** parameters, void** extra) {
  require(parameters == nullptr || extra == nullptr, kInvalidValue,
          "a launch takes arguments one by one or as a buffer, not both");
  return extra != nullptr ? from_extra(kernel, extra) : from_parameters(kernel, parameters);
}

void launch_kernel(Function* handle, const LaunchShape& shape, Stream* stream, void** parameters,
                   void** extra) {
  const Function& function = function_of(handle);
  check_shape(function, shape);
  Launch launch{function, shape, pack_arguments(*function.kernel, parameters, extra)};
  issue(stream, [launch = std::move(launch)] { launch.run(); });
}

RADIANCE_HIP_EXPORT Result hipModuleLaunchKernel(Function* function, unsigned grid_x,
                                                 unsigned grid_y, unsigned grid_z, unsigned block_x,
                                                 unsigned block_y, unsigned block_z,
                                                 unsigned lds_bytes, Stream* stream,
                                                 void** parameters, void** extra) {
  return device_api([&] {
    launch_kernel(function, {{grid_x, grid_y, grid_z}, {block_x, block_y, block_z}, lds_bytes},
                  stream, parameters, extra);
  });
}

}  // namespace radiance::emulator::hip
