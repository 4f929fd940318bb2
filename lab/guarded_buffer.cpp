#include "lab/guarded_buffer.hpp"

#include <algorithm>

namespace radiance::lab {

GuardedBuffer::GuardedBuffer(Device& device, int64_t bytes, uint8_t fill)
    : device_(&device),
      bytes_(bytes),
      buffer_(device, static_cast<size_t>(bytes + 2 * kGuardBytes)) {
  std::vector<uint8_t> image(static_cast<size_t>(bytes + 2 * kGuardBytes), kGuard);
  std::fill_n(image.begin() + kGuardBytes, bytes, fill);
  device.upload(buffer_.get(), image.data(), image.size());
}

std::vector<uint8_t> GuardedBuffer::read(const std::string& name, std::string* broken) const {
  std::vector<uint8_t> image(static_cast<size_t>(bytes_ + 2 * kGuardBytes));
  device_->download(image.data(), buffer_.get(), image.size());
  const auto first = image.begin() + kGuardBytes;
  const auto is_guard = [](uint8_t byte) { return byte == kGuard; };
  if (!std::all_of(image.begin(), first, is_guard))
    *broken = "bytes before " + name + " were written";
  if (!std::all_of(first + bytes_, image.end(), is_guard)) {
    *broken = "bytes behind " + name + " were written";
  }
  return {first, first + bytes_};
}

}  // namespace radiance::lab
