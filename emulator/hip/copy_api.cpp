// Copies and fills. Whatever stands on the device's side must lie wholly inside one live
// allocation.
#include <algorithm>
#include <cstring>

#include "emulator/hip/errors.hpp"
#include "emulator/hip/state.hpp"
#include "emulator/hip/stream.hpp"

namespace radiance::emulator::hip {
namespace {

void require_device(const void* pointer, size_t bytes, const char* side) {
  if (state().memory().contains(pointer, bytes)) return;
  const Allocation found = state().memory().find(pointer);
  const std::string what =
      std::string("the ") + side + " of a copy or fill of " + std::to_string(bytes) + " bytes ";
  if (found.bytes == 0) fail(kInvalidValue, what + "is not device memory");
  fail(kInvalidValue, what + "ends past its allocation of " + std::to_string(found.bytes));
}

void check_copy(const void* to, const void* from, size_t bytes, int kind) {
  require((kind >= kHostToHost && kind <= kDefaultKind) || kind == kDeviceToDeviceNoCU,
          kInvalidMemcpyDirection, "that is no kind of copy");
  require(to != nullptr && from != nullptr, kInvalidValue,
          "a copy's source or destination is null");
  const bool within = kind == kDeviceToDevice || kind == kDeviceToDeviceNoCU;
  if (kind == kHostToDevice || within) require_device(to, bytes, "destination");
  if (kind == kDeviceToHost || within) require_device(from, bytes, "source");
  if (kind != kDefaultKind) return;
  // Of the two, those that begin in an allocation are the device's.
  if (state().memory().find(to).bytes > 0) require_device(to, bytes, "destination");
  if (state().memory().find(from).bytes > 0) require_device(from, bytes, "source");
}

void copy_now(void* to, const void* from, size_t bytes, int kind) {
  check_copy(to, from, bytes, kind);
  std::memmove(to, from, bytes);
}

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

void copy_rows(void* to, size_t to_pitch, const void* from, size_t from_pitch, size_t width,
               size_t height, int kind) {
  require(width <= to_pitch && width <= from_pitch, kInvalidValue,
          "a row is longer than its pitch");
  for (size_t row = 0; row < height; ++row) {
    copy_now(static_cast<char*>(to) + row * to_pitch,
             static_cast<const char*>(from) + row * from_pitch, width, kind);
  }
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

RADIANCE_HIP_EXPORT Result hipMemcpy2D(void* to, size_t to_pitch, const void* from,
                                       size_t from_pitch, size_t width, size_t height, int kind) {
  return device_api([&] {
    if (width == 0 || height == 0) return;
    forbid_during_capture("hipMemcpy2D");
    issue(nullptr, [=] { copy_rows(to, to_pitch, from, from_pitch, width, height, kind); });
  });
}

RADIANCE_HIP_EXPORT Result hipMemcpy2DAsync(void* to, size_t to_pitch, const void* from,
                                            size_t from_pitch, size_t width, size_t height,
                                            int kind, Stream* stream) {
  return device_api([&] {
    if (width == 0 || height == 0) return;
    issue(stream, [=] { copy_rows(to, to_pitch, from, from_pitch, width, height, kind); });
  });
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
