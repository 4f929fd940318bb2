#pragma once

#include <memory>

#include "kernels/backend.hpp"
#include "runtime/cpu_device.hpp"

namespace radiance {

std::unique_ptr<Backend> make_cpu_backend(CpuDevice& device);

}  // namespace radiance
