// The runtime's start and its one device, an emulated Radeon AI PRO R9700.
#include <cstdio>
#include <cstring>
#include <string>

#include "emulator/hip/errors.hpp"
#include "emulator/hip/event.hpp"
#include "emulator/hip/graph.hpp"
#include "emulator/hip/launch.hpp"
#include "emulator/hip/module.hpp"
#include "emulator/hip/properties.hpp"
#include "emulator/hip/state.hpp"
#include "emulator/hip/stream.hpp"

namespace radiance::emulator::hip {
namespace {

constexpr int kHipVersion = 70100000;  // 7.1
constexpr const char* kName = "AMD Radeon AI PRO R9700 (emulated)";
constexpr const char* kArch = "gfx1201";
constexpr const char* kPciBusId = "0000:00:00.0";

// What ROCm reports of the card. Clocks describe the card; nothing here takes their time.
constexpr int kMultiprocessors = 32;  // work-group processors, of two compute units each
constexpr int kMajor = 12, kMinor = 0;
constexpr int kClockKhz = 2350000, kMemoryClockKhz = 1258000, kTimerKhz = 100000;
constexpr int kMemoryBusBits = 256;
constexpr int kL2Bytes = 8 << 20;
constexpr int kThreadsPerMultiprocessor = 2048;
constexpr int kRegisters = 196608;  // of a multiprocessor: 4 SIMDs, 1536 of 32 lanes each
constexpr int kMostGrid[3] = {INT32_MAX, 65536, 65536};
constexpr size_t kPitch = INT32_MAX;
constexpr size_t kConstBytes = INT32_MAX;
// hipDeviceArch_t: 32-bit and 64-bit atomics, doubles, warp operations, fences, 3d grids.
constexpr unsigned kArchBits = 0b1'0011'0111'1111'1111;

void check_device_id(int device) {
  require(device == 0, kInvalidDevice, "there is one emulated device, and its number is 0");
}

void copy_text(char* to, size_t bytes, const char* from) { std::snprintf(to, bytes, "%s", from); }

PropertiesR0600 describe() {
  PropertiesR0600 p{};
  copy_text(p.name, sizeof(p.name), kName);
  std::memcpy(p.uuid, "GPU-radiance-emu", sizeof(p.uuid));
  p.totalGlobalMem = state().memory_bytes();
  p.sharedMemPerBlock = kMostLdsBytes;
  p.regsPerBlock = kRegisters;
  p.warpSize = kWave;
  p.memPitch = kPitch;
  p.maxThreadsPerBlock = kMostThreads;
  for (int i = 0; i < 3; ++i) {
    p.maxThreadsDim[i] = kMostThreads;
    p.maxGridSize[i] = kMostGrid[i];
  }
  p.clockRate = kClockKhz;
  p.totalConstMem = kConstBytes;
  p.major = kMajor;
  p.minor = kMinor;
  p.multiProcessorCount = kMultiprocessors;
  p.canMapHostMemory = 1;
  p.concurrentKernels = 1;
  p.unifiedAddressing = 1;
  p.memoryClockRate = kMemoryClockKhz;
  p.memoryBusWidth = kMemoryBusBits;
  p.l2CacheSize = kL2Bytes;
  p.maxThreadsPerMultiProcessor = kThreadsPerMultiprocessor;
  p.streamPrioritiesSupported = 1;
  p.sharedMemPerMultiprocessor = kMostLdsBytes;
  p.regsPerMultiprocessor = kRegisters;
  p.managedMemory = 1;
  p.maxBlocksPerMultiProcessor = 32;
  p.hostRegisterSupported = 1;
  copy_text(p.gcnArchName, sizeof(p.gcnArchName), kArch);
  p.maxSharedMemoryPerMultiProcessor = kMostLdsBytes;
  p.clockInstructionRate = kTimerKhz;
  p.arch = kArchBits;
  p.isLargeBar = 1;
  return p;
}

PropertiesR0000 describe_r0000() {
  const PropertiesR0600 now = describe();
  PropertiesR0000 p{};
  std::memcpy(p.name, now.name, sizeof(p.name));
  p.totalGlobalMem = now.totalGlobalMem;
  p.sharedMemPerBlock = now.sharedMemPerBlock;
  p.regsPerBlock = now.regsPerBlock;
  p.warpSize = now.warpSize;
  p.maxThreadsPerBlock = now.maxThreadsPerBlock;
  for (int i = 0; i < 3; ++i) {
    p.maxThreadsDim[i] = now.maxThreadsDim[i];
    p.maxGridSize[i] = now.maxGridSize[i];
  }
  p.clockRate = now.clockRate;
  p.memoryClockRate = now.memoryClockRate;
  p.memoryBusWidth = now.memoryBusWidth;
  p.totalConstMem = now.totalConstMem;
  p.major = now.major;
  p.minor = now.minor;
  p.multiProcessorCount = now.multiProcessorCount;
  p.l2CacheSize = now.l2CacheSize;
  p.maxThreadsPerMultiProcessor = now.maxThreadsPerMultiProcessor;
  p.clockInstructionRate = now.clockInstructionRate;
  p.arch = now.arch;
  p.concurrentKernels = now.concurrentKernels;
  p.maxSharedMemoryPerMultiProcessor = now.maxSharedMemoryPerMultiProcessor;
  p.canMapHostMemory = now.canMapHostMemory;
  std::memcpy(p.gcnArchName, now.gcnArchName, sizeof(p.gcnArchName));
  p.memPitch = now.memPitch;
  p.isLargeBar = now.isLargeBar;
  p.managedMemory = now.managedMemory;
  return p;
}

// hipDeviceAttribute_t, as far as it says anything of a device without images.
int attribute(int which) {
  const PropertiesR0600 p = describe();
  switch (which) {
    case 3:      // CanMapHostMemory
    case 4:      // CanUseHostPointerForRegisteredMem
    case 8:      // ConcurrentKernels
    case 24:     // ManagedMemory
    case 78:     // StreamPrioritiesSupported
    case 85:     // UnifiedAddressing
    case 90:     // HostRegisterSupported
    case 10011:  // IsLargeBar
    case 10016:  // FineGrainSupport
    case 10018:  // NumberOfXccs
      return 1;
    case 5:
      return p.clockRate;
    case 19:
      return p.l2CacheSize;
    case 23:
      return p.major;
    case 61:
      return p.minor;
    case 25:
      return p.maxBlocksPerMultiProcessor;
    case 26:  // MaxBlockDimX
    case 27:  // MaxBlockDimY
    case 28:  // MaxBlockDimZ
    case 55:  // MaxThreadsDim
    case 56:
      return p.maxThreadsPerBlock;
    case 29:
    case 30:
    case 31:
      return p.maxGridSize[which - 29];
    case 57:
      return p.maxThreadsPerMultiProcessor;
    case 58:
      return static_cast<int>(p.memPitch);
    case 59:
      return p.memoryBusWidth;
    case 60:
      return p.memoryClockRate;
    case 63:
    case 10015:  // PhysicalMultiProcessorCount
      return p.multiProcessorCount;
    case 71:
    case 72:
      return p.regsPerBlock;
    case 74:
    case 75:
    case 76:
    case 10002:
      return static_cast<int>(p.sharedMemPerBlock);
    case 83:
      return static_cast<int>(p.totalConstMem);
    case 84:  // TotalGlobalMem, which does not fit an int
      return INT32_MAX;
    case 87:
      return p.warpSize;
    case 10000:
    case 10017:
      return kTimerKhz;
    case 10019:  // MaxAvailableVgprsPerThread
      return 256;
    default:
      break;
  }
  constexpr int kCommon = 100, kAmdBegin = 10000, kAmdEnd = 10100;
  require((which >= 0 && which < kCommon) || (which >= kAmdBegin && which < kAmdEnd), kInvalidValue,
          "that is no device attribute");
  return 0;
}

}  // namespace

RADIANCE_HIP_EXPORT Result hipInit(unsigned flags) {
  return api([&] {
    require(flags == 0, kInvalidValue, "hipInit takes no flags");
    state().require_ready();
  });
}

RADIANCE_HIP_EXPORT Result hipDriverGetVersion(int* version) {
  return api([&] {
    require(version != nullptr, kInvalidValue, "the pointer for the version is null");
    *version = kHipVersion;
  });
}

RADIANCE_HIP_EXPORT Result hipRuntimeGetVersion(int* version) {
  return hipDriverGetVersion(version);
}

RADIANCE_HIP_EXPORT Result hipGetDeviceCount(int* count) {
  return api([&] {
    require(count != nullptr, kInvalidValue, "the pointer for the count is null");
    *count = 0;
    state().require_ready();
    *count = 1;
  });
}

RADIANCE_HIP_EXPORT Result hipSetDevice(int device) {
  return api([&] {
    state().require_ready();
    check_device_id(device);
  });
}

RADIANCE_HIP_EXPORT Result hipGetDevice(int* device) {
  return api([&] {
    require(device != nullptr, kInvalidValue, "the pointer for the device is null");
    state().require_ready();
    *device = 0;
  });
}

RADIANCE_HIP_EXPORT Result hipDeviceGet(int* device, int ordinal) {
  return api([&] {
    require(device != nullptr, kInvalidValue, "the pointer for the device is null");
    check_device_id(ordinal);
    *device = 0;
  });
}

RADIANCE_HIP_EXPORT Result hipDeviceGetName(char* name, int bytes, int device) {
  return api([&] {
    require(name != nullptr && bytes > 0, kInvalidValue, "there is no place for the name");
    check_device_id(device);
    copy_text(name, static_cast<size_t>(bytes), kName);
  });
}

RADIANCE_HIP_EXPORT Result hipDeviceGetUuid(void* uuid, int device) {
  return api([&] {
    require(uuid != nullptr, kInvalidValue, "the pointer for the identifier is null");
    check_device_id(device);
    std::memcpy(uuid, describe().uuid, sizeof(PropertiesR0600::uuid));
  });
}

RADIANCE_HIP_EXPORT Result hipDeviceGetPCIBusId(char* text, int bytes, int device) {
  return api([&] {
    require(text != nullptr && bytes > 0, kInvalidValue, "there is no place for the address");
    check_device_id(device);
    copy_text(text, static_cast<size_t>(bytes), kPciBusId);
  });
}

RADIANCE_HIP_EXPORT Result hipDeviceComputeCapability(int* major, int* minor, int device) {
  return api([&] {
    require(major != nullptr && minor != nullptr, kInvalidValue, "there is no place for it");
    check_device_id(device);
    *major = kMajor;
    *minor = kMinor;
  });
}

RADIANCE_HIP_EXPORT Result hipDeviceTotalMem(size_t* bytes, int device) {
  return api([&] {
    require(bytes != nullptr, kInvalidValue, "the pointer for the size is null");
    check_device_id(device);
    *bytes = state().memory_bytes();
  });
}

RADIANCE_HIP_EXPORT Result hipDeviceGetAttribute(int* value, int which, int device) {
  return api([&] {
    require(value != nullptr, kInvalidValue, "the pointer for the attribute is null");
    check_device_id(device);
    *value = attribute(which);
  });
}

RADIANCE_HIP_EXPORT Result hipGetDevicePropertiesR0600(PropertiesR0600* properties, int device) {
  return api([&] {
    require(properties != nullptr, kInvalidValue, "the pointer for the properties is null");
    check_device_id(device);
    *properties = describe();
  });
}

RADIANCE_HIP_EXPORT Result hipGetDevicePropertiesR0000(PropertiesR0000* properties, int device) {
  return api([&] {
    require(properties != nullptr, kInvalidValue, "the pointer for the properties is null");
    check_device_id(device);
    *properties = describe_r0000();
  });
}

// Programs built against ROCm 5; later headers rename the call.
RADIANCE_HIP_EXPORT Result hipGetDeviceProperties(PropertiesR0000* properties, int device) {
  return hipGetDevicePropertiesR0000(properties, device);
}

RADIANCE_HIP_EXPORT Result hipDeviceSynchronize() {
  return device_api([] { forbid_during_capture("hipDeviceSynchronize"); });
}

RADIANCE_HIP_EXPORT Result hipDeviceReset() {
  return api([] {
    state().require_ready();
    destroy_all_graphs();
    destroy_all_events();
    destroy_all_streams();
    unload_all_modules();
    state().release_all();
    clear_device_error();
  });
}

RADIANCE_HIP_EXPORT Result hipGetLastError() { return last_error(true); }
RADIANCE_HIP_EXPORT Result hipPeekAtLastError() { return last_error(false); }
RADIANCE_HIP_EXPORT const char* hipGetErrorName(Result code) { return error_name(code); }
RADIANCE_HIP_EXPORT const char* hipGetErrorString(Result code) { return error_text(code); }

RADIANCE_HIP_EXPORT Result hipDrvGetErrorName(Result code, const char** text) {
  if (text == nullptr) return kInvalidValue;
  *text = error_name(code);
  return kSuccess;
}

RADIANCE_HIP_EXPORT Result hipDrvGetErrorString(Result code, const char** text) {
  if (text == nullptr) return kInvalidValue;
  *text = error_text(code);
  return kSuccess;
}

}  // namespace radiance::emulator::hip
