#pragma once

#include <memory>

#include "kernels/backend.hpp"
#include "runtime/cuda_device.hpp"

namespace radiance {

std::unique_ptr<Backend> make_sm90_backend(CudaDevice& device);

}  // namespace radiance
