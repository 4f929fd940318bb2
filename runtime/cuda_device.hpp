// One NVIDIA GPU through the CUDA driver, in its primary context: memory and streams are the same
// that torch or a CUDA runtime program in this process uses.
#pragma once

#include "runtime/cuda_driver.hpp"
#include "runtime/device.hpp"

namespace radiance {

// Makes the device's context current for a scope.
class CudaScope {
 public:
  explicit CudaScope(cuda::Context context);
  ~CudaScope();
  CudaScope(const CudaScope&) = delete;
  CudaScope& operator=(const CudaScope&) = delete;

 private:
  bool pushed_ = false;
};

class CudaDevice final : public Device {
 public:
  // index: as the driver counts, after CUDA_VISIBLE_DEVICES. Throws Error (no device, unsupported).
  CudaDevice(const std::string& name, int index);
  ~CudaDevice() override;

  cuda::Context context() const { return context_; }

  void* allocate(size_t bytes) override;
  void release(void* pointer) noexcept override;
  void upload(void* to_device, const void* from_host, size_t bytes) override;
  void download(void* to_host, const void* from_device, size_t bytes) override;
  void fill(void* pointer, int byte, size_t bytes, StreamHandle stream) override;
  void synchronize(StreamHandle stream) override;
  StreamHandle create_stream() override;
  void destroy_stream(StreamHandle stream) noexcept override;
  EventHandle create_event() override;
  void destroy_event(EventHandle event) noexcept override;
  void record(EventHandle event, StreamHandle stream) override;
  double elapsed_us(EventHandle first, EventHandle second) override;
  bool captures() const override { return true; }
  std::unique_ptr<Graph> capture(const std::function<void(StreamHandle)>& work) override;

 private:
  cuda::DeviceId id_ = 0;
  cuda::Context context_ = nullptr;
};

}  // namespace radiance
