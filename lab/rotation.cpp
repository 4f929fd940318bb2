#include "lab/rotation.hpp"

#include <algorithm>
#include <fstream>
#include <string>

#include "lab/elements.hpp"

namespace radiance::lab {

namespace {

// Host memory that can be had without swapping, 0 if unknown.
uint64_t available_host_bytes() {
  std::ifstream file("/proc/meminfo");
  for (std::string key; file >> key;) {
    if (key == "MemAvailable:") {
      uint64_t kilobytes = 0;
      file >> kilobytes;
      return kilobytes * 1024;
    }
    std::getline(file, key);
  }
  return 0;
}

}  // namespace

int automatic_copies(const DeviceInfo& info, size_t packed_bytes) {
  const bool is_host = info.name.rfind("cpu", 0) == 0;
  const uint64_t memory = is_host ? available_host_bytes() : info.memory_bytes;
  const auto bytes = static_cast<uint64_t>(packed_bytes);
  uint64_t copies = (is_host ? 2 : 8) * info.last_cache_bytes / bytes + 1;
  if (memory > 0) copies = std::min(copies, memory / 2 / bytes);
  return static_cast<int>(std::max<uint64_t>(copies, 2));
}

WeightRotation::WeightRotation(const Engine& engine, const HostWeight& weight, int copies)
    : shape_(weight.shape) {
  Device& device = engine.device();
  buffers_.push_back(engine.pack(weight.desc()));
  const size_t bytes = buffers_.front().bytes();
  if (copies == 0) copies = automatic_copies(device.info(), bytes);
  std::vector<uint8_t> packed(bytes);
  device.download(packed.data(), buffers_.front().get(), bytes);
  while (static_cast<int>(buffers_.size()) < copies) {
    buffers_.emplace_back(device, bytes);
    device.upload(buffers_.back().get(), packed.data(), bytes);
  }
  for (const Buffer& buffer : buffers_) linears_.emplace_back(engine, buffer.get(), bytes);
}

CallRotation::CallRotation(const Engine& engine, const Linear& linear, const HostRows& rows,
                           int64_t m, radiance_dtype y_dtype, const char* config) {
  Device& device = engine.device();
  const WeightShape shape = linear.shape();
  auto buffer = [&](int64_t bytes) -> void* {
    buffers_.emplace_back(device, static_cast<size_t>(bytes));
    return buffers_.back().get();
  };
  const auto workspace_bytes = static_cast<int64_t>(linear.workspace_bytes(m));
  void* workspace = buffer(workspace_bytes);
  device.fill(workspace, 0, static_cast<size_t>(workspace_bytes), nullptr);
  const int64_t x_bytes = m * rows.ld * element_bytes(rows.dtype);
  const uint64_t cache = device.info().last_cache_bytes;
  const bool one = cache > 0 && static_cast<uint64_t>(x_bytes) > cache;
  for (int set = 0; set < (one ? 1 : kSets); ++set) {
    ForwardCall call;
    void* x = buffer(x_bytes);
    device.upload(x, rows.data.data(), static_cast<size_t>(x_bytes));
    auto* xq = static_cast<uint8_t*>(buffer(m * shape.k));
    auto* scales = static_cast<float*>(buffer(m * 4));
    QuantizeCall quantize;
    quantize.m = m;
    quantize.k = shape.k;
    quantize.x = x;
    quantize.x_dtype = rows.dtype;
    quantize.ldx = rows.ld;
    quantize.xq = xq;
    quantize.scales = scales;
    engine.quantize(quantize);
    call.x = x;
    call.x_dtype = rows.dtype;
    call.ldx = rows.ld;
    call.gemm.m = m;
    call.gemm.xq = xq;
    call.gemm.x_scales = scales;
    call.gemm.y = buffer(m * shape.n * element_bytes(y_dtype));
    call.gemm.y_dtype = y_dtype;
    call.gemm.workspace = workspace;
    call.gemm.workspace_bytes = static_cast<size_t>(workspace_bytes);
    call.gemm.config = config;
    calls_.push_back(call);
  }
  device.synchronize(nullptr);
}

}  // namespace radiance::lab
