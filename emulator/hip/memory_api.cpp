// Memory: hipMalloc and its kin. Host memory of hipHostMalloc is device memory like all other, for
// the emulated device's addresses are the host's.
#include <algorithm>

#include "emulator/hip/errors.hpp"
#include "emulator/hip/state.hpp"
#include "emulator/hip/stream.hpp"

namespace radiance::emulator::hip {
namespace {

void allocate(void** pointer, size_t bytes, const char* what) {
  require(pointer != nullptr, kInvalidValue, "the pointer for the memory is null");
  *pointer = nullptr;
  forbid_during_capture(what);
  if (bytes > 0) *pointer = state().allocate(bytes);
}

void allocate_rows(void** pointer, size_t* pitch, size_t width, size_t height, const char* what) {
  constexpr size_t kPitchAlignment = 256;
  require(width <= SIZE_MAX - kPitchAlignment, kInvalidValue, "the width overflows");
  *pitch = (width + kPitchAlignment - 1) / kPitchAlignment * kPitchAlignment;
  require(height == 0 || *pitch <= SIZE_MAX / height, kInvalidValue,
          "width times height overflows");
  allocate(pointer, *pitch * height, what);
}

void release(void* pointer, const char* what) {
  forbid_during_capture(what);
  if (pointer != nullptr) state().release(pointer);
}

Allocation find(const void* pointer) {
  const Allocation found = state().memory().find(pointer);
  require(found.bytes > 0, kInvalidValue, "the pointer is not inside any live allocation");
  return found;
}

}  // namespace

RADIANCE_HIP_EXPORT Result hipMalloc(void** pointer, size_t bytes) {
  return device_api([&] { allocate(pointer, bytes, "hipMalloc"); });
}

RADIANCE_HIP_EXPORT Result hipFree(void* pointer) {
  return device_api([&] { release(pointer, "hipFree"); });
}

RADIANCE_HIP_EXPORT Result hipHostMalloc(void** pointer, size_t bytes, unsigned) {
  return device_api([&] { allocate(pointer, bytes, "hipHostMalloc"); });
}

RADIANCE_HIP_EXPORT Result hipHostAlloc(void** pointer, size_t bytes, unsigned) {
  return device_api([&] { allocate(pointer, bytes, "hipHostAlloc"); });
}

RADIANCE_HIP_EXPORT Result hipMallocHost(void** pointer, size_t bytes) {
  return device_api([&] { allocate(pointer, bytes, "hipMallocHost"); });
}

RADIANCE_HIP_EXPORT Result hipHostFree(void* pointer) {
  return device_api([&] { release(pointer, "hipHostFree"); });
}

RADIANCE_HIP_EXPORT Result hipFreeHost(void* pointer) {
  return device_api([&] { release(pointer, "hipFreeHost"); });
}

RADIANCE_HIP_EXPORT Result hipMallocManaged(void** pointer, size_t bytes, unsigned) {
  return device_api([&] { allocate(pointer, bytes, "hipMallocManaged"); });
}

RADIANCE_HIP_EXPORT Result hipMallocPitch(void** pointer, size_t* pitch, size_t width,
                                          size_t height) {
  return device_api([&] {
    require(pitch != nullptr, kInvalidValue, "the pointer for the pitch is null");
    allocate_rows(pointer, pitch, width, height, "hipMallocPitch");
  });
}

RADIANCE_HIP_EXPORT Result hipMalloc3D(PitchedPointer* memory, Extent extent) {
  return device_api([&] {
    void* pointer = nullptr;
    size_t pitch = 0;
    require(memory != nullptr, kInvalidValue, "the pointer for the memory is null");
    require(extent.depth == 0 || extent.height <= SIZE_MAX / extent.depth, kInvalidValue,
            "height times depth overflows");
    allocate_rows(&pointer, &pitch, extent.width, extent.height * extent.depth, "hipMalloc3D");
    *memory = {pointer, pitch, extent.width, extent.height};
  });
}

// Stream-ordered allocation may be captured on a real card; here it is refused, since a replay
// would have to give out the same address again.
RADIANCE_HIP_EXPORT Result hipMallocAsync(void** pointer, size_t bytes, Stream* stream) {
  return device_api([&] {
    require(pointer != nullptr, kInvalidValue, "the pointer for the memory is null");
    forbid_captured_stream(stream_of(stream), "hipMallocAsync");
    *pointer = bytes > 0 ? state().allocate(bytes) : nullptr;
  });
}

RADIANCE_HIP_EXPORT Result hipFreeAsync(void* pointer, Stream* stream) {
  return device_api([&] {
    require(pointer != nullptr, kInvalidValue, "what is freed is null");
    forbid_captured_stream(stream_of(stream), "hipFreeAsync");
    issue(stream, [pointer] { state().release(pointer); });
  });
}

RADIANCE_HIP_EXPORT Result hipHostRegister(void* pointer, size_t bytes, unsigned) {
  return device_api([&] {
    require(pointer != nullptr && bytes > 0, kInvalidValue, "there is no memory to register");
    forbid_during_capture("hipHostRegister");
    require(state().memory().adopt(pointer, bytes), kHostMemoryAlreadyRegistered,
            "part of the memory is registered already");
  });
}

RADIANCE_HIP_EXPORT Result hipHostUnregister(void* pointer) {
  return device_api([&] {
    forbid_during_capture("hipHostUnregister");
    require(state().memory().forget(pointer), kHostMemoryNotRegistered,
            "the memory is not registered");
  });
}

RADIANCE_HIP_EXPORT Result hipHostGetDevicePointer(void** device, void* host, unsigned) {
  return device_api([&] {
    require(device != nullptr, kInvalidValue, "the pointer for the address is null");
    find(host);
    *device = host;
  });
}

RADIANCE_HIP_EXPORT Result hipMemGetInfo(size_t* free_bytes, size_t* total) {
  return device_api([&] {
    const uint64_t used = std::min(state().used_bytes(), state().memory_bytes());
    if (free_bytes != nullptr) *free_bytes = state().memory_bytes() - used;
    if (total != nullptr) *total = state().memory_bytes();
  });
}

RADIANCE_HIP_EXPORT Result hipMemGetAddressRange(void** base, size_t* bytes, void* pointer) {
  return device_api([&] {
    const Allocation found = find(pointer);
    if (base != nullptr) *base = reinterpret_cast<void*>(found.address);
    if (bytes != nullptr) *bytes = found.bytes;
  });
}

RADIANCE_HIP_EXPORT Result hipPointerGetAttributes(PointerAttributes* attributes,
                                                   const void* pointer) {
  return device_api([&] {
    require(attributes != nullptr, kInvalidValue, "the pointer for the attributes is null");
    const Allocation found = state().memory().find(pointer);
    *attributes = {};
    attributes->type = found.bytes > 0 ? kDeviceMemory : kUnregistered;
    attributes->device_pointer = found.bytes > 0 ? const_cast<void*>(pointer) : nullptr;
    attributes->host_pointer = const_cast<void*>(pointer);
  });
}

}  // namespace radiance::emulator::hip
