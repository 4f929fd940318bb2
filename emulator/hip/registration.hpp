// Kernels and variables that are linked into a program.
#pragma once

#include "emulator/hip/module.hpp"

namespace radiance::emulator::hip {

// The device's side of a variable that the program has as `host_variable`; its module is loaded if
// it is not yet. Throws Failure (invalid symbol).
Global registered_variable(const void* host_variable);

}  // namespace radiance::emulator::hip
