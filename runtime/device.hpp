// A device: memory, streams, events. What runs on it stands in kernels/.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "radiance/error.hpp"

namespace radiance {

struct DeviceInfo {
  std::string name;         // as opened: "cpu", "hip:0", "emu"
  std::string description;  // the hardware, in words
  std::string arch;         // "amx", "avx512", "avx2", "portable"; "gfx1201"; "sm90"
  std::string driver;       // the system software before the device: "HIP 7.1.25424"
  int units = 0;            // compute units, or threads on cpu
  uint64_t memory_bytes = 0;
  uint64_t last_cache_bytes = 0;  // 0 if unknown
};

struct DeviceOptions {
  int threads = 0;  // cpu, emu: 0 = as many as this process may run on
  // emu: the checks that hardware cannot make, on every launch.
  bool strict = false;
  // emu: workgroups and waves run in a random order that follows from this, another each launch.
  std::optional<uint64_t> order_seed = std::nullopt;
};

// Streams and events are the device's own handles; nullptr is the default stream.
using StreamHandle = void*;
using EventHandle = void*;

// Work that was recorded once and runs again as one submission, the host having no part between its
// launches. Its device must outlive it.
class Graph {
 public:
  virtual ~Graph() = default;
  Graph(const Graph&) = delete;
  Graph& operator=(const Graph&) = delete;

  // Submits the work in stream order; does not wait.
  virtual void launch(StreamHandle stream) = 0;

 protected:
  Graph() = default;
};

class Device {
 public:
  virtual ~Device() = default;
  Device(const Device&) = delete;
  Device& operator=(const Device&) = delete;

  const DeviceInfo& info() const { return info_; }

  // Aligned to 256 bytes or better, contents undefined. Throws Error (out of memory).
  virtual void* allocate(size_t bytes) = 0;
  virtual void release(void* pointer) noexcept = 0;

  // Copies that have happened when the call returns.
  virtual void upload(void* to_device, const void* from_host, size_t bytes) = 0;
  virtual void download(void* to_host, const void* from_device, size_t bytes) = 0;

  // Fills bytes in stream order.
  virtual void fill(void* pointer, int byte, size_t bytes, StreamHandle stream) = 0;
  virtual void synchronize(StreamHandle stream) = 0;

  virtual StreamHandle create_stream() = 0;
  virtual void destroy_stream(StreamHandle stream) noexcept = 0;

  virtual EventHandle create_event() = 0;
  virtual void destroy_event(EventHandle event) noexcept = 0;
  virtual void record(EventHandle event, StreamHandle stream) = 0;
  // Microseconds between two recorded events; waits for the second.
  virtual double elapsed_us(EventHandle first, EventHandle second) = 0;

  // Whether capture() is to be had.
  virtual bool captures() const { return false; }
  // Records what `work` submits to the stream that it is given, without running it. `work` must not
  // allocate, copy or wait. Throws Error (unsupported) where the device records nothing.
  virtual std::unique_ptr<Graph> capture(const std::function<void(StreamHandle)>& /*work*/) {
    throw Error(RADIANCE_UNSUPPORTED, "device \"" + info_.name + "\" records no graphs");
  }

  // What all kernels did since this was last asked, by kernel and as JSON, from a device that
  // counts instead of taking the time that hardware would: emu. Nothing from others.
  virtual std::optional<std::string> take_counters() { return std::nullopt; }

 protected:
  Device() = default;
  DeviceInfo info_;
};

// Device memory with an owner. Move only.
class Buffer {
 public:
  Buffer() = default;
  Buffer(Device& device, size_t bytes)
      : device_(&device), data_(bytes ? device.allocate(bytes) : nullptr), bytes_(bytes) {}
  Buffer(Buffer&& other) noexcept { swap(other); }
  Buffer& operator=(Buffer&& other) noexcept {
    swap(other);
    return *this;
  }
  ~Buffer() {
    if (data_ != nullptr) device_->release(data_);
  }

  template <typename T = void>
  T* get() const {
    return static_cast<T*>(data_);
  }
  size_t bytes() const { return bytes_; }

 private:
  void swap(Buffer& other) noexcept {
    std::swap(device_, other.device_);
    std::swap(data_, other.data_);
    std::swap(bytes_, other.bytes_);
  }
  Device* device_ = nullptr;
  void* data_ = nullptr;
  size_t bytes_ = 0;
};

// Opens a device by the name that the command line and the C interface take (see
// radiance_device_open); "" is the best real device present, else "cpu". Throws Error.
std::unique_ptr<Device> open_device(const std::string& name, const DeviceOptions& options = {});

}  // namespace radiance
