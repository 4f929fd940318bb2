// The CUDA driver's functions, found at run time: the library links no GPU runtime.
//
// Types and values are those of cuda.h, written out so that building needs no CUDA toolkit.
#pragma once

#include <cstddef>
#include <cstdint>

namespace radiance::cuda {

using Result = int;  // CUresult; 0 is success
using DeviceId = int;
using Pointer = unsigned long long;
struct Context_;
struct Module_;
struct Function_;
struct Stream_;
struct Event_;
struct Graph_;
struct GraphExec_;
using Context = Context_*;
using Module = Module_*;
using Function = Function_*;
using Stream = Stream_*;
using Event = Event_*;
using Graph = Graph_*;
using GraphExec = GraphExec_*;

// CUtensorMap
struct alignas(64) TensorMap {
  uint64_t opaque[16];
};

// CUlaunchAttribute: an id, padding, and a 64-byte value of which one int is used here.
struct LaunchAttribute {
  int id;
  char pad[4];
  union {
    char bytes[64];
    int value;
  };
};
static_assert(sizeof(LaunchAttribute) == 72);
constexpr int kProgrammaticStreamSerialization = 6;

// CUlaunchConfig
struct LaunchConfig {
  unsigned grid[3];
  unsigned block[3];
  unsigned shared_bytes;
  Stream stream;
  LaunchAttribute* attributes;
  unsigned attribute_count;
};

// CUdevice_attribute
constexpr int kMultiprocessorCount = 16;
constexpr int kL2CacheBytes = 38;
constexpr int kComputeMajor = 75;
constexpr int kComputeMinor = 76;
// CUfunction_attribute
constexpr int kMaxDynamicSharedBytes = 8;
// CUstreamCaptureMode
constexpr int kCaptureThreadLocal = 1;

struct Driver {
  Result (*init)(unsigned);
  Result (*driver_version)(int*);
  Result (*error_string)(Result, const char**);
  Result (*device_count)(int*);
  Result (*device_get)(DeviceId*, int);
  Result (*device_name)(char*, int, DeviceId);
  Result (*device_attribute)(int*, int, DeviceId);
  Result (*device_total_memory)(size_t*, DeviceId);
  Result (*primary_context_retain)(Context*, DeviceId);
  Result (*primary_context_release)(DeviceId);
  Result (*context_get_current)(Context*);
  Result (*context_push)(Context);
  Result (*context_pop)(Context*);
  Result (*memory_allocate)(Pointer*, size_t);
  Result (*memory_free)(Pointer);
  Result (*copy_to_device)(Pointer, const void*, size_t);
  Result (*copy_to_host)(void*, Pointer, size_t);
  Result (*memset_d8_async)(Pointer, unsigned char, size_t, Stream);
  Result (*stream_create)(Stream*, unsigned);
  Result (*stream_destroy)(Stream);
  Result (*stream_synchronize)(Stream);
  Result (*stream_begin_capture)(Stream, int);
  Result (*stream_end_capture)(Stream, Graph*);
  Result (*graph_instantiate)(GraphExec*, Graph, unsigned long long);
  Result (*graph_launch)(GraphExec, Stream);
  Result (*graph_exec_destroy)(GraphExec);
  Result (*graph_destroy)(Graph);
  Result (*event_create)(Event*, unsigned);
  Result (*event_destroy)(Event);
  Result (*event_record)(Event, Stream);
  Result (*event_synchronize)(Event);
  Result (*event_elapsed_ms)(float*, Event, Event);
  Result (*module_load_data)(Module*, const void*);
  Result (*module_unload)(Module);
  Result (*module_get_function)(Function*, Module, const char*);
  Result (*function_set_attribute)(Function, int, int);
  Result (*launch_kernel_ex)(const LaunchConfig*, Function, void**, void**);
  // cuTensorMapEncodeTiled
  Result (*tensor_map_encode)(TensorMap*, int type, uint32_t rank, void* address,
                              const uint64_t* extents, const uint64_t* strides_bytes,
                              const uint32_t* box, const uint32_t* element_strides, int interleave,
                              int swizzle, int l2_promotion, int oob_fill);
};

// The driver, loaded and initialized at the first call. Throws Error (no device) with what is
// missing.
const Driver& driver();

// Throws Error (device error, out of memory) with the driver's own words and `doing` unless result
// is success.
void check(Result result, const char* doing);

}  // namespace radiance::cuda
