#include "runtime/cuda_driver.hpp"

#include <dlfcn.h>

#include <string>

#include "radiance/error.hpp"

namespace radiance::cuda {
namespace {

constexpr Result kOutOfMemory = 2;

template <typename Function>
void find(void* library, const char* name, Function* function) {
  *function = reinterpret_cast<Function>(dlsym(library, name));
  if (*function == nullptr) {
    throw Error(RADIANCE_NO_DEVICE, std::string("the CUDA driver is too old: it lacks ") + name);
  }
}

Driver load() {
  void* library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    throw Error(RADIANCE_NO_DEVICE, "the CUDA driver (libcuda.so.1) is not installed");
  }
  Driver d{};
  find(library, "cuInit", &d.init);
  find(library, "cuDriverGetVersion", &d.driver_version);
  find(library, "cuGetErrorString", &d.error_string);
  find(library, "cuDeviceGetCount", &d.device_count);
  find(library, "cuDeviceGet", &d.device_get);
  find(library, "cuDeviceGetName", &d.device_name);
  find(library, "cuDeviceGetAttribute", &d.device_attribute);
  find(library, "cuDeviceTotalMem_v2", &d.device_total_memory);
  find(library, "cuDevicePrimaryCtxRetain", &d.primary_context_retain);
  find(library, "cuDevicePrimaryCtxRelease_v2", &d.primary_context_release);
  find(library, "cuCtxGetCurrent", &d.context_get_current);
  find(library, "cuCtxPushCurrent_v2", &d.context_push);
  find(library, "cuCtxPopCurrent_v2", &d.context_pop);
  find(library, "cuMemAlloc_v2", &d.memory_allocate);
  find(library, "cuMemFree_v2", &d.memory_free);
  find(library, "cuMemcpyHtoD_v2", &d.copy_to_device);
  find(library, "cuMemcpyDtoH_v2", &d.copy_to_host);
  find(library, "cuMemsetD8Async", &d.memset_d8_async);
  find(library, "cuStreamCreate", &d.stream_create);
  find(library, "cuStreamDestroy_v2", &d.stream_destroy);
  find(library, "cuStreamSynchronize", &d.stream_synchronize);
  find(library, "cuStreamBeginCapture_v2", &d.stream_begin_capture);
  find(library, "cuStreamEndCapture", &d.stream_end_capture);
  find(library, "cuGraphInstantiateWithFlags", &d.graph_instantiate);
  find(library, "cuGraphLaunch", &d.graph_launch);
  find(library, "cuGraphExecDestroy", &d.graph_exec_destroy);
  find(library, "cuGraphDestroy", &d.graph_destroy);
  find(library, "cuEventCreate", &d.event_create);
  find(library, "cuEventDestroy_v2", &d.event_destroy);
  find(library, "cuEventRecord", &d.event_record);
  find(library, "cuEventSynchronize", &d.event_synchronize);
  find(library, "cuEventElapsedTime", &d.event_elapsed_ms);
  find(library, "cuModuleLoadData", &d.module_load_data);
  find(library, "cuModuleUnload", &d.module_unload);
  find(library, "cuModuleGetFunction", &d.module_get_function);
  find(library, "cuFuncSetAttribute", &d.function_set_attribute);
  find(library, "cuLaunchKernelEx", &d.launch_kernel_ex);
  find(library, "cuTensorMapEncodeTiled", &d.tensor_map_encode);
  if (const Result result = d.init(0); result != 0) {
    const char* text = nullptr;
    d.error_string(result, &text);
    throw Error(RADIANCE_NO_DEVICE, std::string("the CUDA driver does not start: ") +
                                        (text != nullptr ? text : "unknown error"));
  }
  return d;
}

}  // namespace

const Driver& driver() {
  static const Driver loaded = load();  // tried again by the next call if it throws
  return loaded;
}

void check(Result result, const char* doing) {
  if (result == 0) return;
  const char* text = nullptr;
  driver().error_string(result, &text);
  throw Error(result == kOutOfMemory ? RADIANCE_OUT_OF_MEMORY : RADIANCE_DEVICE_ERROR,
              std::string("CUDA, ") + doing + ": " +
                  (text != nullptr ? text : "error " + std::to_string(result)));
}

}  // namespace radiance::cuda
