// The C++ interface: owners and exceptions over radiance.h, header only, so that it works with any
// compiler and standard library beside a given libradiance. C++17 and later.
#pragma once

#include <memory>
#include <string>

#include "radiance/error.hpp"
#include "radiance/radiance.h"

namespace radiance::api {

// Throws Error with the library's sentence unless status is RADIANCE_OK.
inline void check(radiance_status status) {
  if (status != RADIANCE_OK) throw Error(status, radiance_last_error());
}

// A struct of radiance.h with its size set and every other field zero.
template <typename Struct>
Struct make() {
  Struct value{};
  value.struct_size = sizeof(Struct);
  return value;
}

class Device {
 public:
  // See radiance_device_open for names; threads 0 = as many as this process may run on.
  explicit Device(const char* name = nullptr, int threads = 0) {
    auto options = make<radiance_device_options>();
    options.threads = threads;
    radiance_device* device = nullptr;
    check(radiance_device_open(name, &options, &device));
    handle_.reset(device);
  }

  radiance_device* get() const { return handle_.get(); }

  radiance_device_info info() const {
    auto info = make<radiance_device_info>();
    check(radiance_device_get_info(get(), &info));
    return info;
  }

  void quantize(radiance_quantize_args args) const {
    args.struct_size = sizeof(args);
    check(radiance_quantize_activations(get(), &args));
  }

 private:
  struct Close {
    void operator()(radiance_device* device) const { radiance_device_close(device); }
  };
  std::unique_ptr<radiance_device, Close> handle_;
};

// Device memory. The device must outlive it.
class Buffer {
 public:
  Buffer(const Device& device, size_t bytes)
      : data_(allocate(device, bytes), Free{device.get()}), bytes_(bytes) {}
  void* get() const { return data_.get(); }
  size_t bytes() const { return bytes_; }

 private:
  struct Free {
    radiance_device* device;
    void operator()(void* pointer) const { radiance_device_free(device, pointer); }
  };
  static void* allocate(const Device& device, size_t bytes) {
    void* pointer = nullptr;
    check(radiance_device_alloc(device.get(), bytes, &pointer));
    return pointer;
  }
  std::unique_ptr<void, Free> data_;
  size_t bytes_;
};

// A layer that owns its packed weight. The device must outlive it.
class Linear {
 public:
  Linear(const Device& device, radiance_weight_desc weight)
      : packed_(device, packed_bytes(device, weight)) {
    weight.struct_size = sizeof(weight);
    check(radiance_pack(device.get(), &weight, packed_.get(), packed_.bytes()));
    radiance_linear* linear = nullptr;
    check(radiance_linear_create(device.get(), packed_.get(), packed_.bytes(), &linear));
    handle_.reset(linear);
  }

  radiance_linear* get() const { return handle_.get(); }

  size_t workspace_bytes(int64_t max_m) const {
    size_t bytes = 0;
    check(radiance_workspace_bytes(get(), max_m, &bytes));
    return bytes;
  }

  void forward(radiance_forward_args args) const {
    args.struct_size = sizeof(args);
    check(radiance_forward(get(), &args));
  }

  void gemm(radiance_gemm_args args) const {
    args.struct_size = sizeof(args);
    check(radiance_gemm(get(), &args));
  }

 private:
  static size_t packed_bytes(const Device& device, radiance_weight_desc weight) {
    weight.struct_size = sizeof(weight);
    size_t bytes = 0;
    check(radiance_packed_bytes(device.get(), &weight, &bytes));
    return bytes;
  }

  struct Destroy {
    void operator()(radiance_linear* linear) const { radiance_linear_destroy(linear); }
  };
  Buffer packed_;
  std::unique_ptr<radiance_linear, Destroy> handle_;
};

}  // namespace radiance::api
