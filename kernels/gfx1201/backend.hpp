// The gfx1201 target: kernels in code objects, launched through the HIP runtime or the emulator.
#pragma once

#include <memory>

#include "kernels/backend.hpp"
#include "runtime/hip_device.hpp"

namespace radiance {

std::unique_ptr<Backend> make_gfx1201_backend(HipDevice& device);

}  // namespace radiance
