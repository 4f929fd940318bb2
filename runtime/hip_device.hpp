// One gfx1201 GPU through the HIP runtime: ROCm's or the emulator's. Memory and streams are the
// same that torch or another HIP program in this process uses.
#pragma once

#include "runtime/device.hpp"
#include "runtime/hip_driver.hpp"

namespace radiance {

// Makes the device current in this thread for a scope, and the former one again after it. Every
// call of the runtime that takes no stream needs it; a launch on the default stream does too.
class HipScope {
 public:
  HipScope(const hip::Driver& driver, hip::DeviceId device);
  ~HipScope();
  HipScope(const HipScope&) = delete;
  HipScope& operator=(const HipScope&) = delete;

 private:
  const hip::Driver* driver_;
  hip::DeviceId former_ = 0;
  bool changed_ = false;
};

// Compute units of a gfx1201 from hipDeviceProp_t::multiProcessorCount. ROCm counts work-group
// processors of two units there, unless it was told to run in CU mode. The largest chip of this
// target has 32 work-group processors and the smallest 24, so a larger number counts units already.
constexpr int compute_units(int multiprocessors) {
  constexpr int kMostWorkgroupProcessors = 32;
  return multiprocessors > kMostWorkgroupProcessors ? multiprocessors : 2 * multiprocessors;
}

class HipDevice final : public Device {
 public:
  // index: as the runtime counts, after HIP_VISIBLE_DEVICES. driver: hip::rocm() or
  // hip::emulator(). Throws Error (no device, or unsupported if it is no gfx1201).
  HipDevice(const hip::Driver& driver, const std::string& name, int index);

  const hip::Driver& driver() const { return driver_; }
  hip::DeviceId id() const { return id_; }

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
  std::optional<std::string> take_counters() override;

 private:
  const hip::Driver& driver_;
  hip::DeviceId id_ = 0;
};

}  // namespace radiance
