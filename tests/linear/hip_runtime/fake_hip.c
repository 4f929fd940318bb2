/* A libamdhip64 that a loader takes for ROCm's: its functions are there and do nothing, but for
 * what opening a device asks. The build makes several that differ in these macros:
 *   FAKE_ARCH             what the only GPU is
 *   FAKE_GPUS             how many it says there are
 *   FAKE_WITHOUT_GRAPHS   lacks what HIP had not in its first versions
 *   FAKE_INIT             what hipInit returns */
#include <stddef.h>
#include <string.h>

#ifndef FAKE_ARCH
#define FAKE_ARCH "gfx1201"
#endif
#ifndef FAKE_GPUS
#define FAKE_GPUS 1
#endif
#ifndef FAKE_INIT
#define FAKE_INIT 0
#endif

#define EXPORT __attribute__((visibility("default")))
#define DOES_NOTHING(name) \
  EXPORT int name(void);   \
  int name(void) { return 0; }

EXPORT int hipInit(unsigned flags);
int hipInit(unsigned flags) {
  (void)flags;
  return FAKE_INIT;
}

EXPORT int hipRuntimeGetVersion(int* version);
int hipRuntimeGetVersion(int* version) {
  *version = 60000000;
  return 0;
}

EXPORT const char* hipGetErrorString(int error);
const char* hipGetErrorString(int error) { return error == 0 ? "no error" : "said the runtime"; }

EXPORT int hipGetDeviceCount(int* count);
int hipGetDeviceCount(int* count) {
  *count = FAKE_GPUS;
  return FAKE_GPUS == 0 ? 100 : 0;
}

EXPORT int hipGetDevicePropertiesR0600(char* properties, int device);
int hipGetDevicePropertiesR0600(char* properties, int device) {
  (void)device;
  memset(properties, 0, 1472);
  strcpy(properties, "Radeon of another kind");
  strcpy(properties + 1160, FAKE_ARCH);
  return 0;
}

DOES_NOTHING(hipGetLastError)
DOES_NOTHING(hipSetDevice)
DOES_NOTHING(hipGetDevice)
DOES_NOTHING(hipMalloc)
DOES_NOTHING(hipFree)
DOES_NOTHING(hipMemcpyHtoD)
DOES_NOTHING(hipMemcpyDtoH)
DOES_NOTHING(hipMemcpyHtoDAsync)
DOES_NOTHING(hipMemcpyDtoHAsync)
DOES_NOTHING(hipMemsetAsync)
DOES_NOTHING(hipStreamCreateWithFlags)
DOES_NOTHING(hipStreamDestroy)
DOES_NOTHING(hipStreamSynchronize)
#ifndef FAKE_WITHOUT_GRAPHS
DOES_NOTHING(hipStreamBeginCapture)
DOES_NOTHING(hipStreamEndCapture)
DOES_NOTHING(hipGraphInstantiate)
DOES_NOTHING(hipGraphLaunch)
DOES_NOTHING(hipGraphExecDestroy)
DOES_NOTHING(hipGraphDestroy)
#endif
DOES_NOTHING(hipEventCreateWithFlags)
DOES_NOTHING(hipEventDestroy)
DOES_NOTHING(hipEventRecord)
DOES_NOTHING(hipEventSynchronize)
DOES_NOTHING(hipEventElapsedTime)
DOES_NOTHING(hipModuleLoadData)
DOES_NOTHING(hipModuleUnload)
DOES_NOTHING(hipModuleGetFunction)
DOES_NOTHING(hipFuncGetAttribute)
DOES_NOTHING(hipModuleLaunchKernel)
