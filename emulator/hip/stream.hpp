// Streams, and what is captured from them.
//
// An operation runs before the call that issues it returns: in-order execution, with every wait
// fulfilled already. What a program may not rely on with a real card (that a copy or kernel is done
// before it synchronizes) happens to hold here.
#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "emulator/hip/types.hpp"

namespace radiance::emulator::hip {

using Operation = std::function<void()>;  // throws Failure

// One capture: the operations of all streams that take part in it, in the order of their issue,
// which respects every dependency among them.
struct Capture {
  Stream* origin = nullptr;
  CaptureMode mode = kCaptureGlobal;
  std::thread::id thread;
  bool invalidated = false;
  uint64_t number = 0;
  std::vector<Operation> operations;
};

struct Stream {
  unsigned flags = 0;
  int priority = 0;
  std::mutex mutex;  // held while an operation runs
  std::shared_ptr<Capture> capture;
  bool joined = true;  // into the origin of the capture, since its last operation
};

// The stream behind a handle: null, hipStreamLegacy and hipStreamPerThread are the default one.
// Throws Failure (context is destroyed) for a handle that is no stream.
Stream& stream_of(Stream* handle);

// Runs the operation in the stream's order, or notes it if the stream is being captured.
void issue(Stream* handle, Operation operation);

// A call that waits, allocates or copies at once, which a capture in this thread forbids: throws
// Failure (capture unsupported) and invalidates the capture. `what` names the call.
void forbid_during_capture(const char* what);
// The same for one stream, whatever thread captures it.
void forbid_captured_stream(Stream& stream, const char* what);

// hipStreamWaitEvent with an event of a captured stream: the stream joins the capture.
void join_capture(Stream& stream, const std::shared_ptr<Capture>& capture, Stream* recorded_on);

// Destroys all streams (hipDeviceReset).
void destroy_all_streams();

}  // namespace radiance::emulator::hip
