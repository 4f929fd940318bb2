// The HIP runtime's types and values, as its public headers state them, for the functions that this
// library exports. Nothing here is included by programs: they use HIP's own headers.
#pragma once

#include <cstddef>
#include <cstdint>

// Every exported function is C and visible; the version script names the prefixes.
#define RADIANCE_HIP_EXPORT extern "C" __attribute__((visibility("default")))

namespace radiance::emulator::hip {

// hipError_t
enum Result : int {
  kSuccess = 0,
  kInvalidValue = 1,
  kOutOfMemory = 2,
  kNotInitialized = 3,
  kInvalidConfiguration = 9,
  kInvalidPitchValue = 12,
  kInvalidSymbol = 13,
  kInvalidDevicePointer = 17,
  kInvalidMemcpyDirection = 21,
  kMissingConfiguration = 52,
  kInvalidDeviceFunction = 98,
  kNoDevice = 100,
  kInvalidDevice = 101,
  kInvalidImage = 200,
  kInvalidContext = 201,
  kNoBinaryForGpu = 209,
  kFileNotFound = 301,
  kInvalidHandle = 400,
  kIllegalState = 401,
  kNotFound = 500,
  kNotReady = 600,
  kIllegalAddress = 700,
  kLaunchTimeOut = 702,
  kContextIsDestroyed = 709,
  kHostMemoryAlreadyRegistered = 712,
  kHostMemoryNotRegistered = 713,
  kLaunchFailure = 719,
  kNotSupported = 801,
  kStreamCaptureUnsupported = 900,
  kStreamCaptureInvalidated = 901,
  kStreamCaptureMerge = 902,
  kStreamCaptureUnmatched = 903,
  kStreamCaptureUnjoined = 904,
  kStreamCaptureIsolation = 905,
  kStreamCaptureImplicit = 906,
  kCapturedEvent = 907,
  kStreamCaptureWrongThread = 908,
  kUnknown = 999,
};

// hipMemcpyKind
enum CopyKind : int {
  kHostToHost = 0,
  kHostToDevice = 1,
  kDeviceToHost = 2,
  kDeviceToDevice = 3,
  kDefaultKind = 4,
  kDeviceToDeviceNoCU = 1024,
};

// hipStreamCaptureMode, hipStreamCaptureStatus
enum CaptureMode : int { kCaptureGlobal = 0, kCaptureThreadLocal = 1, kCaptureRelaxed = 2 };
enum CaptureStatus : int { kCaptureNone = 0, kCaptureActive = 1, kCaptureInvalidated = 2 };

// hipFunction_attribute
enum FunctionAttribute : int {
  kMaxThreadsPerBlock = 0,
  kSharedSizeBytes = 1,
  kConstSizeBytes = 2,
  kLocalSizeBytes = 3,
  kNumRegs = 4,
  kPtxVersion = 5,
  kBinaryVersion = 6,
  kCacheModeCa = 7,
  kMaxDynamicSharedSizeBytes = 8,
  kPreferredSharedMemoryCarveout = 9,
};

// hipFuncAttributes
struct FunctionAttributes {
  int binary_version;
  int cache_mode_ca;
  size_t const_size_bytes;
  size_t local_size_bytes;
  int max_dynamic_shared_size_bytes;
  int max_threads_per_block;
  int num_regs;
  int preferred_shmem_carveout;
  int ptx_version;
  size_t shared_size_bytes;
};

// dim3
struct Dimensions {
  uint32_t x, y, z;
};

// hipMemoryType, hipPointerAttribute_t
enum MemoryType : int { kUnregistered = 0, kHostMemory = 1, kDeviceMemory = 2, kManagedMemory = 3 };
struct PointerAttributes {
  MemoryType type;
  int device;
  void* device_pointer;
  void* host_pointer;
  int is_managed;
  unsigned allocation_flags;
};

// hipPitchedPtr, hipExtent, hipPos, hipMemcpy3DParms: x and width are bytes where no array is.
struct PitchedPointer {
  void* pointer;
  size_t pitch, width, height;
};
struct Extent {
  size_t width, height, depth;
};
struct Position {
  size_t x, y, z;
};
struct Copy3DParameters {
  void* source_array;
  Position source_position;
  PitchedPointer source;
  void* destination_array;
  Position destination_position;
  PitchedPointer destination;
  Extent extent;
  CopyKind kind;
};

struct Context;
struct Stream;
struct Event;
struct Graph;
struct ExecutableGraph;
struct LoadedModule;
struct Function;

using HostFunction = void (*)(void*);
using StreamCallback = void (*)(Stream*, Result, void*);

// hipModuleLaunchKernel's `extra`: these before their values, then the end.
constexpr uintptr_t kLaunchParamBufferPointer = 1;
constexpr uintptr_t kLaunchParamBufferSize = 2;
constexpr uintptr_t kLaunchParamEnd = 3;

}  // namespace radiance::emulator::hip
