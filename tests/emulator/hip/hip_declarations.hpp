// What these tests use of hip_runtime_api.h, for machines without it. The names and values are
// HIP's: the same test is built against the real header where that is found.
#pragma once

#include <cstddef>

using hipError_t = int;
enum : int {
  hipSuccess = 0,
  hipErrorInvalidValue = 1,
  hipErrorOutOfMemory = 2,
  hipErrorNotInitialized = 3,
  hipErrorInvalidConfiguration = 9,
  hipErrorInvalidPitchValue = 12,
  hipErrorInvalidSymbol = 13,
  hipErrorInvalidMemcpyDirection = 21,
  hipErrorInvalidDevice = 101,
  hipErrorInvalidImage = 200,
  hipErrorInvalidContext = 201,
  hipErrorNoBinaryForGpu = 209,
  hipErrorFileNotFound = 301,
  hipErrorInvalidHandle = 400,
  hipErrorIllegalState = 401,
  hipErrorNotFound = 500,
  hipErrorContextIsDestroyed = 709,
  hipErrorLaunchFailure = 719,
  hipErrorNotSupported = 801,
  hipErrorStreamCaptureUnsupported = 900,
  hipErrorStreamCaptureInvalidated = 901,
  hipErrorStreamCaptureUnjoined = 904,
};
enum hipMemcpyKind : int {
  hipMemcpyHostToDevice = 1,
  hipMemcpyDeviceToHost = 2,
  hipMemcpyDeviceToDevice = 3,
  hipMemcpyDefault = 4,
};
enum hipStreamCaptureMode : int {
  hipStreamCaptureModeGlobal = 0,
  hipStreamCaptureModeThreadLocal = 1,
  hipStreamCaptureModeRelaxed = 2,
};
enum hipFunction_attribute : int {
  HIP_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK = 0,
  HIP_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES = 1,
};
enum hipDeviceAttribute_t : int {
  hipDeviceAttributeMaxThreadsPerBlock = 56,
  hipDeviceAttributeMultiprocessorCount = 63,
  hipDeviceAttributeWarpSize = 87,
};
#define HIP_LAUNCH_PARAM_BUFFER_POINTER ((void*)0x01)
#define HIP_LAUNCH_PARAM_BUFFER_SIZE ((void*)0x02)
#define HIP_LAUNCH_PARAM_END ((void*)0x03)
constexpr unsigned hipStreamNonBlocking = 1;

using hipStream_t = struct ihipStream_t*;
using hipEvent_t = struct ihipEvent_t*;
using hipModule_t = struct ihipModule_t*;
using hipFunction_t = struct ihipModuleSymbol_t*;
using hipGraph_t = struct ihipGraph*;
using hipGraphNode_t = struct hipGraphNode*;
using hipGraphExec_t = struct hipGraphExec*;
using hipCtx_t = struct ihipCtx_t*;
using hipArray_t = struct hipArray*;
using hipDeviceptr_t = void*;
using hipDevice_t = int;

struct hipPitchedPtr {
  void* ptr;
  size_t pitch, xsize, ysize;
};
struct hipExtent {
  size_t width, height, depth;
};
struct hipPos {
  size_t x, y, z;
};
struct hipMemcpy3DParms {
  hipArray_t srcArray;
  hipPos srcPos;
  hipPitchedPtr srcPtr;
  hipArray_t dstArray;
  hipPos dstPos;
  hipPitchedPtr dstPtr;
  hipExtent extent;
  hipMemcpyKind kind;
};

extern "C" {
hipError_t hipInit(unsigned flags);
hipError_t hipGetDeviceCount(int* count);
hipError_t hipSetDevice(int device);
hipError_t hipDeviceGetName(char* name, int bytes, hipDevice_t device);
hipError_t hipDeviceGetAttribute(int* value, hipDeviceAttribute_t attribute, int device);
hipError_t hipDeviceSynchronize();
hipError_t hipDeviceReset();
hipError_t hipSetDeviceFlags(unsigned flags);
hipError_t hipGetDeviceFlags(unsigned* flags);
hipError_t hipDeviceCanAccessPeer(int* can, int device, int peer);
hipError_t hipDeviceEnablePeerAccess(int peer, unsigned flags);
hipError_t hipDevicePrimaryCtxRetain(hipCtx_t* context, hipDevice_t device);
hipError_t hipDevicePrimaryCtxRelease(hipDevice_t device);
hipError_t hipDevicePrimaryCtxGetState(hipDevice_t device, unsigned* flags, int* active);
hipError_t hipDevicePrimaryCtxSetFlags(hipDevice_t device, unsigned flags);
hipError_t hipCtxCreate(hipCtx_t* context, unsigned flags, hipDevice_t device);
hipError_t hipCtxDestroy(hipCtx_t context);
hipError_t hipCtxPushCurrent(hipCtx_t context);
hipError_t hipCtxPopCurrent(hipCtx_t* context);
hipError_t hipCtxSetCurrent(hipCtx_t context);
hipError_t hipCtxGetCurrent(hipCtx_t* context);
hipError_t hipCtxGetDevice(hipDevice_t* device);
hipError_t hipCtxGetFlags(unsigned* flags);
hipError_t hipCtxGetApiVersion(hipCtx_t context, unsigned* version);
hipError_t hipCtxSynchronize();
hipError_t hipMalloc(void** pointer, size_t bytes);
hipError_t hipFree(void* pointer);
hipError_t hipMallocAsync(void** pointer, size_t bytes, hipStream_t stream);
hipError_t hipFreeAsync(void* pointer, hipStream_t stream);
hipError_t hipMemGetInfo(size_t* free_bytes, size_t* total);
hipError_t hipMemcpy(void* to, const void* from, size_t bytes, hipMemcpyKind kind);
hipError_t hipMemcpyAsync(void* to, const void* from, size_t bytes, hipMemcpyKind kind,
                          hipStream_t stream);
hipError_t hipMemcpy2D(void* to, size_t to_pitch, const void* from, size_t from_pitch, size_t width,
                       size_t height, hipMemcpyKind kind);
hipError_t hipMalloc3D(hipPitchedPtr* memory, hipExtent extent);
hipError_t hipMemcpy3D(const hipMemcpy3DParms* parameters);
hipError_t hipMemcpy3DAsync(const hipMemcpy3DParms* parameters, hipStream_t stream);
hipError_t hipMemcpyPeer(void* to, int to_device, const void* from, int from_device, size_t bytes);
hipError_t hipMemcpyPeerAsync(void* to, int to_device, const void* from, int from_device,
                              size_t bytes, hipStream_t stream);
hipError_t hipGetSymbolAddress(void** address, const void* symbol);
hipError_t hipGetSymbolSize(size_t* bytes, const void* symbol);
hipError_t hipMemcpyToSymbol(const void* symbol, const void* from, size_t bytes, size_t offset,
                             hipMemcpyKind kind);
hipError_t hipMemcpyToSymbolAsync(const void* symbol, const void* from, size_t bytes, size_t offset,
                                  hipMemcpyKind kind, hipStream_t stream);
hipError_t hipMemcpyFromSymbol(void* to, const void* symbol, size_t bytes, size_t offset,
                               hipMemcpyKind kind);
hipError_t hipMemcpyFromSymbolAsync(void* to, const void* symbol, size_t bytes, size_t offset,
                                    hipMemcpyKind kind, hipStream_t stream);
hipError_t hipMemset(void* pointer, int value, size_t bytes);
hipError_t hipMemset2D(void* pointer, size_t pitch, int value, size_t width, size_t height);
hipError_t hipMemset2DAsync(void* pointer, size_t pitch, int value, size_t width, size_t height,
                            hipStream_t stream);
hipError_t hipMemset3D(hipPitchedPtr memory, int value, hipExtent extent);
hipError_t hipMemsetAsync(void* pointer, int value, size_t bytes, hipStream_t stream);
hipError_t hipMemsetD16(hipDeviceptr_t pointer, unsigned short value, size_t count);
hipError_t hipMemsetD32(hipDeviceptr_t pointer, int value, size_t count);
hipError_t hipStreamCreate(hipStream_t* stream);
hipError_t hipStreamCreateWithFlags(hipStream_t* stream, unsigned flags);
hipError_t hipStreamDestroy(hipStream_t stream);
hipError_t hipStreamSynchronize(hipStream_t stream);
hipError_t hipStreamQuery(hipStream_t stream);
hipError_t hipStreamWaitEvent(hipStream_t stream, hipEvent_t event, unsigned flags);
hipError_t hipStreamBeginCapture(hipStream_t stream, hipStreamCaptureMode mode);
hipError_t hipThreadExchangeStreamCaptureMode(hipStreamCaptureMode* mode);
hipError_t hipStreamEndCapture(hipStream_t stream, hipGraph_t* graph);
hipError_t hipGraphInstantiate(hipGraphExec_t* executable, hipGraph_t graph, hipGraphNode_t* node,
                               char* log, size_t log_bytes);
hipError_t hipGraphLaunch(hipGraphExec_t executable, hipStream_t stream);
hipError_t hipGraphDestroy(hipGraph_t graph);
hipError_t hipGraphExecDestroy(hipGraphExec_t executable);
hipError_t hipEventCreate(hipEvent_t* event);
hipError_t hipEventDestroy(hipEvent_t event);
hipError_t hipEventRecord(hipEvent_t event, hipStream_t stream);
hipError_t hipEventSynchronize(hipEvent_t event);
hipError_t hipEventElapsedTime(float* ms, hipEvent_t first, hipEvent_t second);
hipError_t hipModuleLoad(hipModule_t* module, const char* path);
hipError_t hipModuleLoadData(hipModule_t* module, const void* image);
hipError_t hipModuleUnload(hipModule_t module);
hipError_t hipModuleGetFunction(hipFunction_t* function, hipModule_t module, const char* name);
hipError_t hipModuleGetGlobal(hipDeviceptr_t* address, size_t* bytes, hipModule_t module,
                              const char* name);
hipError_t hipFuncGetAttribute(int* value, hipFunction_attribute attribute, hipFunction_t function);
hipError_t hipModuleOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, hipFunction_t function,
                                                              int threads, size_t lds_bytes);
hipError_t hipModuleLaunchKernel(hipFunction_t function, unsigned grid_x, unsigned grid_y,
                                 unsigned grid_z, unsigned block_x, unsigned block_y,
                                 unsigned block_z, unsigned lds_bytes, hipStream_t stream,
                                 void** parameters, void** extra);
hipError_t hipGetLastError();
hipError_t hipPeekAtLastError();
const char* hipGetErrorName(hipError_t error);
const char* hipGetErrorString(hipError_t error);
}
