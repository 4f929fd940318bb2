// A compiled module on a CUDA device, and launching its kernels.
#pragma once

#include <array>
#include <string>

#include "runtime/cuda_device.hpp"

namespace radiance {

class CudaModule {
 public:
  // image: a cubin. The device must outlive the module.
  CudaModule(const CudaDevice& device, const void* image);
  ~CudaModule();
  CudaModule(const CudaModule&) = delete;
  CudaModule& operator=(const CudaModule&) = delete;

  // A kernel that may use `shared_bytes` of dynamic shared memory. Throws Error if it is not there.
  cuda::Function function(const char* name, int shared_bytes = 0) const;

 private:
  const CudaDevice* device_;
  cuda::Module module_ = nullptr;
};

struct CudaLaunch {
  std::array<unsigned, 3> grid{1, 1, 1};
  unsigned block = 1;
  unsigned shared_bytes = 0;
  StreamHandle stream = nullptr;
  // The kernel may start before the one before it in the stream ends; it waits itself (PDL).
  bool overlaps_previous = false;
};

// Launches with pointers to the kernel's parameters. The context must be current.
void launch(cuda::Function function, const CudaLaunch& how, void** parameters);

}  // namespace radiance
