#include "emulator/hip/errors.hpp"

#include <cstdio>
#include <mutex>
#include <set>

#include "emulator/hip/state.hpp"

namespace radiance::emulator::hip {
namespace {

struct Entry {
  Result code;
  const char* name;
  const char* text;
};

constexpr Entry kEntries[] = {
    {kSuccess, "hipSuccess", "no error"},
    {kInvalidValue, "hipErrorInvalidValue", "invalid argument"},
    {kOutOfMemory, "hipErrorOutOfMemory", "out of memory"},
    {kNotInitialized, "hipErrorNotInitialized", "initialization error"},
    {kInvalidConfiguration, "hipErrorInvalidConfiguration", "invalid configuration argument"},
    {kInvalidPitchValue, "hipErrorInvalidPitchValue", "invalid pitch argument"},
    {kInvalidSymbol, "hipErrorInvalidSymbol", "invalid device symbol"},
    {kInvalidDevicePointer, "hipErrorInvalidDevicePointer", "invalid device pointer"},
    {kInvalidMemcpyDirection, "hipErrorInvalidMemcpyDirection",
     "invalid copy direction for memcpy"},
    {kMissingConfiguration, "hipErrorMissingConfiguration",
     "__global__ function call is not configured"},
    {kInvalidDeviceFunction, "hipErrorInvalidDeviceFunction", "invalid device function"},
    {kNoDevice, "hipErrorNoDevice", "no ROCm-capable device is detected"},
    {kInvalidDevice, "hipErrorInvalidDevice", "invalid device ordinal"},
    {kInvalidImage, "hipErrorInvalidImage", "device kernel image is invalid"},
    {kInvalidContext, "hipErrorInvalidContext", "invalid device context"},
    {kNoBinaryForGpu, "hipErrorNoBinaryForGpu",
     "no kernel image is available for execution on the device"},
    {kFileNotFound, "hipErrorFileNotFound", "file not found"},
    {kInvalidHandle, "hipErrorInvalidHandle", "invalid resource handle"},
    {kIllegalState, "hipErrorIllegalState", "the operation cannot be performed in this state"},
    {kNotFound, "hipErrorNotFound", "named symbol not found"},
    {kNotReady, "hipErrorNotReady", "device not ready"},
    {kIllegalAddress, "hipErrorIllegalAddress", "an illegal memory access was encountered"},
    {kLaunchTimeOut, "hipErrorLaunchTimeOut", "the launch timed out and was terminated"},
    {kContextIsDestroyed, "hipErrorContextIsDestroyed", "context is destroyed"},
    {kHostMemoryAlreadyRegistered, "hipErrorHostMemoryAlreadyRegistered",
     "part or all of the requested memory range is already mapped"},
    {kHostMemoryNotRegistered, "hipErrorHostMemoryNotRegistered",
     "pointer does not correspond to a registered memory region"},
    {kLaunchFailure, "hipErrorLaunchFailure", "unspecified launch failure"},
    {kNotSupported, "hipErrorNotSupported", "operation not supported"},
    {kStreamCaptureUnsupported, "hipErrorStreamCaptureUnsupported",
     "operation not permitted when stream is capturing"},
    {kStreamCaptureInvalidated, "hipErrorStreamCaptureInvalidated",
     "operation failed due to a previous error during capture"},
    {kStreamCaptureMerge, "hipErrorStreamCaptureMerge",
     "operation would result in a merge of separate capture sequences"},
    {kStreamCaptureUnmatched, "hipErrorStreamCaptureUnmatched",
     "capture was not initiated in this stream"},
    {kStreamCaptureUnjoined, "hipErrorStreamCaptureUnjoined", "capturing stream has unjoined work"},
    {kStreamCaptureIsolation, "hipErrorStreamCaptureIsolation",
     "dependency created on uncaptured work in another stream"},
    {kStreamCaptureImplicit, "hipErrorStreamCaptureImplicit",
     "operation would make the legacy stream depend on a capturing blocking stream"},
    {kCapturedEvent, "hipErrorCapturedEvent",
     "operation not permitted on an event last recorded in a capturing stream"},
    {kStreamCaptureWrongThread, "hipErrorStreamCaptureWrongThread",
     "attempt to terminate a thread-local capture sequence from another thread"},
    {kUnknown, "hipErrorUnknown", "unknown error"},
};

const Entry& entry(Result code) {
  for (const Entry& e : kEntries) {
    if (e.code == code) return e;
  }
  return kEntries[std::size(kEntries) - 1];
}

struct ThreadErrors {
  Result last = kSuccess;
  std::string report;
};

ThreadErrors& this_thread() {
  thread_local ThreadErrors errors;
  return errors;
}

struct DeviceError {
  std::mutex mutex;
  Result code = kSuccess;
  std::string sentence;
  std::set<std::string> printed;
};

DeviceError& device_error() {
  static DeviceError error;
  return error;
}

void print_once(Result code, const std::string& sentence) {
  if (state().options().quiet) return;
  DeviceError& error = device_error();
  const std::lock_guard lock(error.mutex);
  if (!error.printed.insert(sentence).second) return;
  std::fprintf(stderr, "radiance emulator: %s (%s)\n", sentence.c_str(), error_name(code));
}

}  // namespace

const char* error_name(Result code) { return entry(code).name; }
const char* error_text(Result code) { return entry(code).text; }

Result note_error(Result code, const std::string& sentence) noexcept {
  try {
    ThreadErrors& errors = this_thread();
    errors.last = code;
    errors.report = sentence;
    if (!sentence.empty()) print_once(code, sentence);
  } catch (...) {
    // No memory for the sentence; the code says enough.
  }
  return code;
}

Result last_error(bool forget) {
  ThreadErrors& errors = this_thread();
  const Result code = errors.last;
  if (forget) errors.last = kSuccess;
  return code;
}

const char* last_report() { return this_thread().report.c_str(); }

void set_device_error(Result code, const std::string& sentence) {
  DeviceError& error = device_error();
  const std::lock_guard lock(error.mutex);
  if (error.code != kSuccess) return;
  error.code = code;
  error.sentence = sentence;
}

void clear_device_error() {
  DeviceError& error = device_error();
  const std::lock_guard lock(error.mutex);
  error.code = kSuccess;
}

void check_device() {
  state().require_ready();
  DeviceError& error = device_error();
  std::unique_lock lock(error.mutex);
  if (error.code != kSuccess) fail(error.code, error.sentence);
}

}  // namespace radiance::emulator::hip
