// The HIP runtime's functions, found at run time: the library links no GPU runtime.
//
// Types and values are those of hip_runtime_api.h, written out so that building needs no ROCm.
// There are two such runtimes: ROCm's, and our gfx1201 emulator, which exports the same functions.
// What calls them cannot tell one from the other, except by the functions in `emulator`.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "radiance/error.hpp"

namespace radiance::hip {

using Result = int;  // hipError_t; 0 is success
using DeviceId = int;
struct Module_;
struct Function_;
struct Stream_;
struct Event_;
struct Graph_;
struct GraphExec_;
using Module = Module_*;
using Function = Function_*;
using Stream = Stream_*;
using Event = Event_*;
using Graph = Graph_*;
using GraphExec = GraphExec_*;

// hipError_t
constexpr Result kOutOfMemory = 2;
constexpr Result kNoDevice = 100;
constexpr Result kNoBinaryForGpu = 209;
// hipFunction_attribute
constexpr int kStaticSharedBytes = 1;
constexpr int kScratchBytes = 3;
constexpr int kRegisters = 4;
// hipStreamCaptureMode
constexpr int kCaptureThreadLocal = 1;
// hipStreamCreateWithFlags
constexpr unsigned kNonBlocking = 1;

// What is read of hipDeviceProp_t. ROCm 6 changed the struct and gave the function that fills it
// another name; each reader below knows the offsets of its version.
struct Properties {
  std::string name;
  std::string arch;  // gcnArchName: "gfx1201", perhaps with ":sramecc+..." behind it
  int multiprocessors = 0;
  uint64_t memory_bytes = 0;
  uint64_t l2_bytes = 0;
};
constexpr size_t kPropertiesR0600Bytes = 1472;
constexpr size_t kPropertiesR0000Bytes = 792;
Properties read_properties_r0600(const unsigned char* bytes);
Properties read_properties_r0000(const unsigned char* bytes);

// What only the emulator exports (emulator/hip/radiance_emulator.h); null with ROCm.
struct EmulatorFunctions {
  const char* (*version)();
  int (*set_option)(const char* name, const char* value);
  const char* (*last_report)();
  const char* (*counters)();
  void (*reset_counters)();
  const char* (*supported)();
};

struct Driver {
  Result (*init)(unsigned);
  Result (*runtime_version)(int*);
  const char* (*error_string)(Result);
  Result (*last_error)();
  Result (*device_count)(int*);
  Result (*set_device)(DeviceId);
  Result (*get_device)(DeviceId*);
  Result (*properties_r0600)(void*, DeviceId);  // null before ROCm 6
  Result (*properties_r0000)(void*, DeviceId);  // used where the former is null
  Result (*memory_allocate)(void**, size_t);
  Result (*memory_free)(void*);
  Result (*copy_to_device)(void*, const void*, size_t);
  Result (*copy_to_host)(void*, void*, size_t);
  Result (*copy_to_device_async)(void*, const void*, size_t, Stream);
  Result (*copy_to_host_async)(void*, void*, size_t, Stream);
  Result (*memset_async)(void*, int, size_t, Stream);
  Result (*stream_create)(Stream*, unsigned);
  Result (*stream_destroy)(Stream);
  Result (*stream_synchronize)(Stream);
  Result (*stream_begin_capture)(Stream, int);
  Result (*stream_end_capture)(Stream, Graph*);
  Result (*graph_instantiate)(GraphExec*, Graph, void* error_node, char* log, size_t log_bytes);
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
  Result (*function_attribute)(int*, int, Function);
  Result (*launch_kernel)(Function, unsigned grid_x, unsigned grid_y, unsigned grid_z,
                          unsigned block_x, unsigned block_y, unsigned block_z,
                          unsigned shared_bytes, Stream, void** parameters, void** extra);
  EmulatorFunctions emulator;

  bool is_emulator() const { return emulator.version != nullptr; }
  // "HIP 7.1.25424", or "Radiance gfx1201 emulator 0.1.0 (HIP 7.1.0)".
  std::string version_text() const;
  Properties properties(DeviceId device) const;

  // Throws Error (device error, out of memory, unsupported) with the runtime's own words and
  // `doing` unless result is success; with the emulator, also what it reports about the kernel.
  void check(Result result, const char* doing) const;
};

// ROCm's runtime, loaded and initialized at the first call: libamdhip64.so.7, .so.6 or .so, from
// where the loader looks and from /opt/rocm/lib. Throws Error (no device) with what is missing.
const Driver& rocm();

// Our emulator, loaded from where it is built or installed beside this library (emulator_path).
// Throws Error (no device) naming where it was looked for.
const Driver& emulator();

}  // namespace radiance::hip
