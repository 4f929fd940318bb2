#include "runtime/hip_module.hpp"

namespace radiance {

HipModule::HipModule(const HipDevice& device, const void* image) : device_(&device) {
  const HipScope scope(device.driver(), device.id());
  device.driver().check(device.driver().module_load_data(&module_, image), "loading a code object");
}

HipModule::~HipModule() {
  try {
    const HipScope scope(device_->driver(), device_->id());
    device_->driver().module_unload(module_);
  } catch (const Error&) {
    // The device is gone, and the module with it.
  }
}

hip::Function HipModule::function(const char* name) const {
  const HipScope scope(device_->driver(), device_->id());
  hip::Function found = nullptr;
  device_->driver().check(device_->driver().module_get_function(&found, module_, name),
                          (std::string("looking for the kernel ") + name).c_str());
  return found;
}

HipKernelInfo kernel_info(const HipDevice& device, hip::Function function) {
  const hip::Driver& driver = device.driver();
  const auto attribute = [&](int which) {
    int value = 0;
    driver.check(driver.function_attribute(&value, which, function),
                 "asking for a kernel's attribute");
    return value;
  };
  return {attribute(hip::kRegisters), attribute(hip::kStaticSharedBytes),
          attribute(hip::kScratchBytes)};
}

void launch(const HipDevice& device, hip::Function function, const HipLaunch& how,
            void** parameters) {
  const hip::Driver& driver = device.driver();
  driver.check(driver.launch_kernel(function, how.grid[0], how.grid[1], how.grid[2], how.block, 1,
                                    1, how.shared_bytes, static_cast<hip::Stream>(how.stream),
                                    parameters, nullptr),
               "launching a kernel");
}

}  // namespace radiance
