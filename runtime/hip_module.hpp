// A code object on a HIP device, and launching its kernels.
//
//   HipModule module(device, image);                    // an ELF code object or an offload bundle
//   const hip::Function kernel = module.function("autoround_decode_1");
//   HipLaunch how;
//   how.grid = {tiles, splits, 1};                      // workgroups
//   how.block = 256;                                    // threads of one
//   how.stream = call.stream;
//   const HipScope scope(device.driver(), device.id());
//   launch(device, kernel, how, parameters);            // parameters[i] points at argument i
//
// A launch allocates nothing here and does not synchronize: it may be captured into a graph. (The
// emulator runs the kernel before the launch returns, and captures it like ROCm does.)
#pragma once

#include <array>
#include <cstddef>

#include "runtime/hip_device.hpp"

namespace radiance {

// What the compiler recorded of a kernel, as the runtime tells it.
struct HipKernelInfo {
  int registers = 0;            // VGPRs
  int static_shared_bytes = 0;  // LDS
  int scratch_bytes = 0;        // per lane
};

class HipModule {
 public:
  // image: copied by the runtime; it need not outlive the constructor. The device must outlive the
  // module. Throws Error (unsupported) if the image is for another target, with the runtime's
  // words.
  HipModule(const HipDevice& device, const void* image);
  ~HipModule();
  HipModule(const HipModule&) = delete;
  HipModule& operator=(const HipModule&) = delete;

  // Throws Error naming the kernel if it is not there.
  hip::Function function(const char* name) const;

 private:
  const HipDevice* device_;
  hip::Module module_ = nullptr;
};

struct HipLaunch {
  std::array<unsigned, 3> grid{1, 1, 1};  // in workgroups
  unsigned block = 1;                     // threads a workgroup, in x
  unsigned shared_bytes = 0;              // dynamic LDS, past the kernel's static part
  StreamHandle stream = nullptr;
};

HipKernelInfo kernel_info(const HipDevice& device, hip::Function function);

// Launches with pointers to the kernel's arguments. The device must be current (HipScope).
void launch(const HipDevice& device, hip::Function function, const HipLaunch& how,
            void** parameters);

}  // namespace radiance
