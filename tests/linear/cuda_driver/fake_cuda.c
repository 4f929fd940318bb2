/* A libcuda that a loader takes for NVIDIA's: its functions are there and do nothing, but for what
 * opening a device asks. The build makes several that differ in these macros:
 *   FAKE_MAJOR                the compute capability of the only GPU
 *   FAKE_GPUS                 how many it says there are
 *   FAKE_WITHOUT_TENSOR_MAPS  lacks what CUDA had not before version 12
 *   FAKE_INIT                 what cuInit returns
 *   FAKE_MODULE_LOAD          what loading a module returns */
#include <stddef.h>
#include <string.h>

#ifndef FAKE_MAJOR
#define FAKE_MAJOR 9
#endif
#ifndef FAKE_GPUS
#define FAKE_GPUS 1
#endif
#ifndef FAKE_INIT
#define FAKE_INIT 0
#endif
#ifndef FAKE_MODULE_LOAD
#define FAKE_MODULE_LOAD 0
#endif

#define EXPORT __attribute__((visibility("default")))
#define DOES_NOTHING(name) \
  EXPORT int name(void);   \
  int name(void) { return 0; }

EXPORT int cuInit(unsigned flags);
int cuInit(unsigned flags) {
  (void)flags;
  return FAKE_INIT;
}

EXPORT int cuDriverGetVersion(int* version);
int cuDriverGetVersion(int* version) {
  *version = 11080;
  return 0;
}

EXPORT int cuGetErrorString(int error, const char** text);
int cuGetErrorString(int error, const char** text) {
  *text = error == 0 ? "no error" : "said the driver";
  return 0;
}

EXPORT int cuDeviceGetCount(int* count);
int cuDeviceGetCount(int* count) {
  *count = FAKE_GPUS;
  return 0;
}

EXPORT int cuDeviceGet(int* device, int index);
int cuDeviceGet(int* device, int index) {
  *device = index;
  return 0;
}

EXPORT int cuDeviceGetName(char* name, int bytes, int device);
int cuDeviceGetName(char* name, int bytes, int device) {
  (void)device;
  strncpy(name, "GeForce of another kind", (size_t)bytes - 1);
  return 0;
}

/* 75 and 76: the compute capability; 16: multiprocessors. */
EXPORT int cuDeviceGetAttribute(int* value, int which, int device);
int cuDeviceGetAttribute(int* value, int which, int device) {
  (void)device;
  *value = which == 75 ? FAKE_MAJOR : which == 16 ? 132 : 0;
  return 0;
}

EXPORT int cuDeviceTotalMem_v2(size_t* bytes, int device);
int cuDeviceTotalMem_v2(size_t* bytes, int device) {
  (void)device;
  *bytes = (size_t)1 << 30;
  return 0;
}

EXPORT int cuCtxGetCurrent(void** context);
int cuCtxGetCurrent(void** context) {
  *context = NULL;
  return 0;
}

EXPORT int cuModuleLoadData(void** module, const void* image);
int cuModuleLoadData(void** module, const void* image) {
  (void)image;
  *module = NULL;
  return FAKE_MODULE_LOAD;
}

DOES_NOTHING(cuDevicePrimaryCtxRetain)
DOES_NOTHING(cuDevicePrimaryCtxRelease_v2)
DOES_NOTHING(cuCtxPushCurrent_v2)
DOES_NOTHING(cuCtxPopCurrent_v2)
DOES_NOTHING(cuMemAlloc_v2)
DOES_NOTHING(cuMemFree_v2)
DOES_NOTHING(cuMemcpyHtoD_v2)
DOES_NOTHING(cuMemcpyDtoH_v2)
DOES_NOTHING(cuMemsetD8Async)
DOES_NOTHING(cuStreamCreate)
DOES_NOTHING(cuStreamDestroy_v2)
DOES_NOTHING(cuStreamSynchronize)
DOES_NOTHING(cuStreamBeginCapture_v2)
DOES_NOTHING(cuStreamEndCapture)
DOES_NOTHING(cuGraphInstantiateWithFlags)
DOES_NOTHING(cuGraphLaunch)
DOES_NOTHING(cuGraphExecDestroy)
DOES_NOTHING(cuGraphDestroy)
DOES_NOTHING(cuEventCreate)
DOES_NOTHING(cuEventDestroy_v2)
DOES_NOTHING(cuEventRecord)
DOES_NOTHING(cuEventSynchronize)
DOES_NOTHING(cuEventElapsedTime)
DOES_NOTHING(cuModuleUnload)
DOES_NOTHING(cuModuleGetFunction)
DOES_NOTHING(cuFuncSetAttribute)
DOES_NOTHING(cuLaunchKernelEx)
#ifndef FAKE_WITHOUT_TENSOR_MAPS
DOES_NOTHING(cuTensorMapEncodeTiled)
#endif
