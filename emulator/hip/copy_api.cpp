// Copies and fills of bytes in a row.
#include <cstring>

#include "emulator/hip/copy.hpp"
#include "emulator/hip/errors.hpp"
#include "emulator/hip/stream.hpp"

namespace radiance::emulator::hip {
namespace {

// Copies at once: the call is not allowed during capture.
Result copy(void* to, const void* from, size_t bytes, int kind, const char* what) {
  return device_api([&] {
    if (bytes == 0) return;
    forbid_during_capture(what);
    issue(nullptr, [=] { copy_now(to, from, bytes, kind); });
  });
}

Result copy_async(void* to, const void* from, size_t bytes, int kind, Stream* stream) {
  return device_api([&] {
    if (bytes == 0) return;
    check_copy(to, from, bytes, kind);
    issue(stream, [=] { copy_now(to, from, bytes, kind); });
  });
}

template <typename T>
void fill_now(void* pointer, T value, size_t count) {
  require_device(pointer, count * sizeof(T), "destination");
  // Through bytes: a caller's address need not be aligned for T.
  for (size_t i = 0; i < count; ++i) {
    std::memcpy(static_cast<char*>(pointer) + i * sizeof(T), &value, sizeof(T));
  }
}

void fill_now(void* pointer, uint8_t value, size_t count) {
  require_device(pointer, count, "destination");
  std::memset(pointer, value, count);
}

template <typename T>
Result fill(void* pointer, T value, size_t count, const char* what) {
  return device_api([&] {
    if (count == 0) return;
    forbid_during_capture(what);
    issue(nullptr, [=] { fill_now(pointer, value, count); });
  });
}

template <typename T>
Result fill_async(void* pointer, T value, size_t count, Stream* stream) {
  return device_api([&] {
    if (count == 0) return;
    require_device(pointer, count * sizeof(T), "destination");
    issue(stream, [=] { fill_now(pointer, value, count); });
  });
}

}  // namespace

RADIANCE_HIP_EXPORT Result hipMemcpy(void* to, const void* from, size_t bytes, int kind) {
  return copy(to, from, bytes, kind, "hipMemcpy");
}

RADIANCE_HIP_EXPORT Result hipMemcpyWithStream(void* to, const void* from, size_t bytes, int kind,
                                               Stream* stream) {
  const Result result = copy_async(to, from, bytes, kind, stream);
  return result;
}

RADIANCE_HIP_EXPORT Result hipMemcpyHtoD(void* to, const void* from, size_t bytes) {
  return copy(to, from, bytes, kHostToDevice, "hipMemcpyHtoD");
}

RADIANCE_HIP_EXPORT Result hipMemcpyDtoH(void* to, void* from, size_t bytes) {
  return copy(to, from, bytes, kDeviceToHost, "hipMemcpyDtoH");
}

RADIANCE_HIP_EXPORT Result hipMemcpyDtoD(void* to, void* from, size_t bytes) {
  return copy(to, from, bytes, kDeviceToDevice, "hipMemcpyDtoD");
}

RADIANCE_HIP_EXPORT Result hipMemcpyAsync(void* to, const void* from, size_t bytes, int kind,
                                          Stream* stream) {
  return copy_async(to, from, bytes, kind, stream);
}

RADIANCE_HIP_EXPORT Result hipMemcpyHtoDAsync(void* to, const void* from, size_t bytes,
                                              Stream* stream) {
  return copy_async(to, from, bytes, kHostToDevice, stream);
}

RADIANCE_HIP_EXPORT Result hipMemcpyDtoHAsync(void* to, void* from, size_t bytes, Stream* stream) {
  return copy_async(to, from, bytes, kDeviceToHost, stream);
}

RADIANCE_HIP_EXPORT Result hipMemcpyDtoDAsync(void* to, void* from, size_t bytes, Stream* stream) {
  return copy_async(to, from, bytes, kDeviceToDevice, stream);
}

RADIANCE_HIP_EXPORT Result hipMemset(void* pointer, int value, size_t bytes) {
  return fill(pointer, static_cast<uint8_t>(value), bytes, "hipMemset");
}

RADIANCE_HIP_EXPORT Result hipMemsetAsync(void* pointer, int value, size_t bytes, Stream* stream) {
  return fill_async(pointer, static_cast<uint8_t>(value), bytes, stream);
}

RADIANCE_HIP_EXPORT Result hipMemsetD8(void* pointer, unsigned char value, size_t count) {
  return fill(pointer, uint8_t{value}, count, "hipMemsetD8");
}

RADIANCE_HIP_EXPORT Result hipMemsetD8Async(void* pointer, unsigned char value, size_t count,
                                            Stream* stream) {
  return fill_async(pointer, uint8_t{value}, count, stream);
}

RADIANCE_HIP_EXPORT Result hipMemsetD16(void* pointer, unsigned short value, size_t count) {
  return fill(pointer, uint16_t{value}, count, "hipMemsetD16");
}

RADIANCE_HIP_EXPORT Result hipMemsetD16Async(void* pointer, unsigned short value, size_t count,
                                             Stream* stream) {
  return fill_async(pointer, uint16_t{value}, count, stream);
}

RADIANCE_HIP_EXPORT Result hipMemsetD32(void* pointer, int value, size_t count) {
  return fill(pointer, int32_t{value}, count, "hipMemsetD32");
}

RADIANCE_HIP_EXPORT Result hipMemsetD32Async(void* pointer, int value, size_t count,
                                             Stream* stream) {
  return fill_async(pointer, int32_t{value}, count, stream);
}

}  // namespace radiance::emulator::hip
