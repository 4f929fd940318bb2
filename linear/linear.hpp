// The W4A8 linear: pack once, then quantize activations and multiply. The C interface in c_api.cpp
// is a thin skin over this.
#pragma once

#include <memory>
#include <string>

#include "kernels/backend.hpp"

namespace radiance {

// A device and the backend that runs on it.
class Engine {
 public:
  // name: as radiance_device_open takes it; "" = the best device present.
  explicit Engine(const std::string& name = "", const DeviceOptions& options = {});

  Device& device() const { return *device_; }
  Backend& backend() const { return *backend_; }

  // Checks and packs a host weight into new device memory.
  Buffer pack(const radiance_weight_desc& weight) const;
  // The same into the caller's device memory, aligned to 256.
  void pack(const radiance_weight_desc& weight, void* packed, size_t packed_bytes) const;

  // Quantizes rows of device memory; checks the arguments. group -1 = k.
  void quantize(const QuantizeCall& call) const;

 private:
  std::unique_ptr<Device> device_;
  std::unique_ptr<Backend> backend_;
};

// A layer over a packed weight in device memory, which it borrows.
class Linear {
 public:
  // Reads and checks the header: throws Error (version mismatch, bad input).
  Linear(const Engine& engine, const void* packed, size_t packed_bytes);

  const PackedHeader& header() const { return header_; }
  WeightShape shape() const { return header_.shape(); }

  // Device memory that calls of up to max_m rows need; zero it once.
  size_t workspace_bytes(int64_t max_m) const;

  // The whole operation, or the product alone. Zero leading dimensions mean k and n. They check
  // their arguments and throw Error before anything is launched.
  void forward(ForwardCall call) const;
  void gemm(GemmCall call) const;

  Plan plan(int64_t m) const;

 private:
  void check_gemm(GemmCall& call) const;

  const Engine* engine_;
  const void* packed_;
  PackedHeader header_;
};

}  // namespace radiance
