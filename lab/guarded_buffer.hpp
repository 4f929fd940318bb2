// Device memory between guard bytes: a kernel that writes outside what it was given is seen.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "runtime/device.hpp"

namespace radiance::lab {

class GuardedBuffer {
 public:
  // `bytes` bytes of `fill` on the device, aligned to 256.
  GuardedBuffer(Device& device, int64_t bytes, uint8_t fill);

  template <typename T = void>
  T* get() const {
    return reinterpret_cast<T*>(buffer_.get<uint8_t>() + kGuardBytes);
  }

  // The contents; sets *broken, if a guard was written, to a sentence with the buffer's name.
  std::vector<uint8_t> read(const std::string& name, std::string* broken) const;

 private:
  static constexpr int64_t kGuardBytes = 256;
  static constexpr uint8_t kGuard = 0xa9;
  Device* device_;
  int64_t bytes_;
  Buffer buffer_;
};

}  // namespace radiance::lab
