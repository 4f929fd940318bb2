#include "runtime/cuda_module.hpp"

namespace radiance {

using cuda::check;
using cuda::driver;

CudaModule::CudaModule(const CudaDevice& device, const void* image) : device_(&device) {
  const CudaScope scope(device.context());
  check(driver().module_load_data(&module_, image), "loading a module");
}

CudaModule::~CudaModule() {
  try {
    const CudaScope scope(device_->context());
    driver().module_unload(module_);
  } catch (const Error&) {
    // The context is gone, and the module with it.
  }
}

cuda::Function CudaModule::function(const char* name, int shared_bytes) const {
  const CudaScope scope(device_->context());
  cuda::Function found = nullptr;
  check(driver().module_get_function(&found, module_, name),
        (std::string("looking for the kernel ") + name).c_str());
  if (shared_bytes > 0) {
    check(driver().function_set_attribute(found, cuda::kMaxDynamicSharedBytes, shared_bytes),
          "raising the shared memory limit");
  }
  return found;
}

void launch(cuda::Function function, const CudaLaunch& how, void** parameters) {
  cuda::LaunchAttribute attribute{};
  attribute.id = cuda::kProgrammaticStreamSerialization;
  attribute.value = 1;
  cuda::LaunchConfig config{};
  for (int i = 0; i < 3; ++i) config.grid[i] = how.grid[static_cast<size_t>(i)];
  config.block[0] = how.block;
  config.block[1] = config.block[2] = 1;
  config.shared_bytes = how.shared_bytes;
  config.stream = static_cast<cuda::Stream>(how.stream);
  config.attributes = &attribute;
  config.attribute_count = how.overlaps_previous ? 1 : 0;
  check(driver().launch_kernel_ex(&config, function, parameters, nullptr), "launching a kernel");
}

}  // namespace radiance
