// The hardware probes of gfx1201.
#pragma once

#include <memory>

#include "kernels/hardware_probes.hpp"
#include "runtime/hip_device.hpp"

namespace radiance::gfx1201 {

// The device must outlive them. Throws Error if the device cannot load their code objects.
std::unique_ptr<HardwareProbes> make_hardware_probes(HipDevice& device);

}  // namespace radiance::gfx1201
