// The host processor as a device: every call is synchronous, the only stream is nullptr.
#pragma once

#include <mutex>
#include <unordered_map>

#include "runtime/cpu_features.hpp"
#include "runtime/device.hpp"
#include "runtime/thread_pool.hpp"

namespace radiance {

class CpuDevice final : public Device {
 public:
  // arch must be among supported_cpu_archs(). threads 0: as many as this process may run on.
  CpuDevice(const std::string& name, CpuArch arch, int threads);
  ~CpuDevice() override;

  CpuArch arch() const { return arch_; }
  ThreadPool& pool() { return pool_; }

  void* allocate(size_t bytes) override;
  void release(void* pointer) noexcept override;
  void upload(void* to_device, const void* from_host, size_t bytes) override;
  void download(void* to_host, const void* from_device, size_t bytes) override;
  void fill(void* pointer, int byte, size_t bytes, StreamHandle stream) override;
  void synchronize(StreamHandle) override {}
  StreamHandle create_stream() override { return nullptr; }
  void destroy_stream(StreamHandle) noexcept override {}
  EventHandle create_event() override;
  void destroy_event(EventHandle event) noexcept override;
  void record(EventHandle event, StreamHandle stream) override;
  double elapsed_us(EventHandle first, EventHandle second) override;

 private:
  CpuArch arch_;
  ThreadPool pool_;
  std::mutex mutex_;
  std::unordered_map<void*, size_t> mapped_bytes_;
};

}  // namespace radiance
