#include "emulator/hip/stream.hpp"

#include <algorithm>
#include <atomic>
#include <map>

#include "emulator/hip/errors.hpp"
#include "emulator/hip/graph.hpp"

namespace radiance::emulator::hip {
namespace {

constexpr unsigned kNonBlocking = 1;
constexpr int kLeastPriority = 1, kGreatestPriority = -1;

struct Streams {
  std::mutex mutex;
  std::map<Stream*, std::unique_ptr<Stream>> created;
  Stream standard;
  std::vector<std::shared_ptr<Capture>> captures;  // that are going on
  std::atomic<uint64_t> capture_number = 0;
};

Streams& streams() {
  static Streams* const only = new Streams;
  return *only;
}

// Which captures forbid this thread what they forbid.
CaptureMode& thread_mode() {
  thread_local CaptureMode mode = kCaptureGlobal;
  return mode;
}

bool is_standard(const Stream* handle) {
  constexpr uintptr_t kLegacy = 1, kPerThread = 2;
  const auto value = reinterpret_cast<uintptr_t>(handle);
  return value == 0 || value == kLegacy || value == kPerThread;
}

void create(Stream** stream, unsigned flags, int priority) {
  require(stream != nullptr, kInvalidValue, "the pointer for the new stream is null");
  require((flags & ~kNonBlocking) == 0, kInvalidValue, "a stream's flags are 0 or 1");
  auto made = std::make_unique<Stream>();
  made->flags = flags;
  made->priority = std::clamp(priority, kGreatestPriority, kLeastPriority);
  *stream = made.get();
  const std::lock_guard lock(streams().mutex);
  streams().created[made.get()] = std::move(made);
}

void begin_capture(Stream* handle, CaptureMode mode) {
  require(!is_standard(handle), kStreamCaptureUnsupported, "the default stream cannot be captured");
  require(mode >= kCaptureGlobal && mode <= kCaptureRelaxed, kInvalidValue,
          "that is no capture mode");
  Stream& stream = stream_of(handle);
  require(stream.capture == nullptr, kIllegalState, "the stream is being captured already");
  auto capture = std::make_shared<Capture>();
  capture->origin = &stream;
  capture->mode = mode;
  capture->thread = std::this_thread::get_id();
  capture->number = ++streams().capture_number;
  stream.capture = capture;
  const std::lock_guard lock(streams().mutex);
  streams().captures.push_back(capture);
}

// Takes all streams out of the capture; whether all had been joined.
bool close_capture(const std::shared_ptr<Capture>& capture) {
  const std::lock_guard lock(streams().mutex);
  bool joined = true;
  for (const auto& [handle, stream] : streams().created) {
    if (stream->capture != capture) continue;
    joined = joined && (handle == capture->origin || stream->joined);
    stream->capture = nullptr;
    stream->joined = true;
  }
  std::erase(streams().captures, capture);
  return joined;
}

void end_capture(Stream* handle, Graph** graph) {
  require(graph != nullptr, kInvalidValue, "the pointer for the graph is null");
  *graph = nullptr;
  require(!is_standard(handle), kIllegalState, "the default stream cannot be captured");
  Stream& stream = stream_of(handle);
  const std::shared_ptr<Capture> capture = stream.capture;
  require(capture != nullptr, kIllegalState, "the stream is not being captured");
  require(capture->origin == &stream, kStreamCaptureUnmatched,
          "the capture began in another stream");
  require(capture->mode == kCaptureRelaxed || capture->thread == std::this_thread::get_id(),
          kStreamCaptureWrongThread, "the capture began in another thread");
  const bool joined = close_capture(capture);
  require(!capture->invalidated, kStreamCaptureInvalidated,
          "a call that is not allowed during capture came before");
  require(joined, kStreamCaptureUnjoined, "a stream that joined the capture was not joined back");
  *graph = make_graph(std::move(capture->operations));
}

}  // namespace

Stream& stream_of(Stream* handle) {
  if (is_standard(handle)) return streams().standard;
  const std::lock_guard lock(streams().mutex);
  const auto found = streams().created.find(handle);
  require(found != streams().created.end(), kContextIsDestroyed, "that is no stream");
  return *found->second;
}

void issue(Stream* handle, Operation operation) {
  Stream& stream = stream_of(handle);
  if (stream.capture == nullptr) {
    const std::lock_guard lock(stream.mutex);
    operation();
    return;
  }
  const std::lock_guard lock(streams().mutex);
  require(!stream.capture->invalidated, kStreamCaptureInvalidated,
          "a call that is not allowed during capture came before");
  stream.capture->operations.push_back(std::move(operation));
  stream.joined = false;
}

void forbid_during_capture(const char* what) {
  if (thread_mode() == kCaptureRelaxed) return;
  const std::lock_guard lock(streams().mutex);
  const auto here = std::this_thread::get_id();
  for (const auto& capture : streams().captures) {
    const bool mine = capture->mode != kCaptureRelaxed && capture->thread == here;
    const bool forbids =
        mine || (capture->mode == kCaptureGlobal && thread_mode() == kCaptureGlobal);
    if (!forbids) continue;
    capture->invalidated = true;
    fail(kStreamCaptureUnsupported,
         std::string(what) + " is not allowed while a stream is being captured");
  }
}

void forbid_captured_stream(Stream& stream, const char* what) {
  if (stream.capture == nullptr) return;
  stream.capture->invalidated = true;
  fail(kStreamCaptureUnsupported,
       std::string(what) + " is not allowed on a stream that is being captured");
}

void join_capture(Stream& stream, const std::shared_ptr<Capture>& capture, Stream* recorded_on) {
  require(stream.capture == nullptr || stream.capture == capture, kStreamCaptureMerge,
          "the stream takes part in another capture");
  const std::lock_guard lock(streams().mutex);
  stream.capture = capture;
  if (const auto found = streams().created.find(recorded_on); found != streams().created.end()) {
    found->second->joined = true;
  }
}

void destroy_all_streams() {
  const std::lock_guard lock(streams().mutex);
  streams().created.clear();
  streams().captures.clear();
}

RADIANCE_HIP_EXPORT Result hipStreamCreate(Stream** stream) {
  return device_api([&] { create(stream, 0, 0); });
}

RADIANCE_HIP_EXPORT Result hipStreamCreateWithFlags(Stream** stream, unsigned flags) {
  return device_api([&] { create(stream, flags, 0); });
}

RADIANCE_HIP_EXPORT Result hipStreamCreateWithPriority(Stream** stream, unsigned flags,
                                                       int priority) {
  return device_api([&] { create(stream, flags, priority); });
}

RADIANCE_HIP_EXPORT Result hipDeviceGetStreamPriorityRange(int* least, int* greatest) {
  return device_api([&] {
    if (least != nullptr) *least = kLeastPriority;
    if (greatest != nullptr) *greatest = kGreatestPriority;
  });
}

RADIANCE_HIP_EXPORT Result hipStreamDestroy(Stream* handle) {
  return api([&] {
    require(!is_standard(handle), kInvalidHandle, "the default stream cannot be destroyed");
    Stream& stream = stream_of(handle);
    if (stream.capture != nullptr && stream.capture->origin == &stream) {
      close_capture(stream.capture);
    }
    const std::lock_guard lock(streams().mutex);
    streams().created.erase(handle);
  });
}

RADIANCE_HIP_EXPORT Result hipStreamSynchronize(Stream* handle) {
  return device_api([&] {
    Stream& stream = stream_of(handle);
    if (is_standard(handle)) forbid_during_capture("hipStreamSynchronize");
    forbid_captured_stream(stream, "hipStreamSynchronize");
    const std::lock_guard wait(stream.mutex);
  });
}

RADIANCE_HIP_EXPORT Result hipStreamQuery(Stream* handle) {
  return device_api([&] {
    Stream& stream = stream_of(handle);
    forbid_captured_stream(stream, "hipStreamQuery");
    const std::unique_lock busy(stream.mutex, std::try_to_lock);
    if (!busy.owns_lock()) fail(kNotReady, "");
  });
}

RADIANCE_HIP_EXPORT Result hipStreamGetFlags(Stream* handle, unsigned* flags) {
  return device_api([&] {
    require(flags != nullptr, kInvalidValue, "the pointer for the flags is null");
    *flags = stream_of(handle).flags;
  });
}

RADIANCE_HIP_EXPORT Result hipStreamGetPriority(Stream* handle, int* priority) {
  return device_api([&] {
    require(priority != nullptr, kInvalidValue, "the pointer for the priority is null");
    *priority = stream_of(handle).priority;
  });
}

RADIANCE_HIP_EXPORT Result hipStreamGetDevice(Stream* handle, int* device) {
  return device_api([&] {
    require(device != nullptr, kInvalidValue, "the pointer for the device is null");
    stream_of(handle);
    *device = 0;
  });
}

RADIANCE_HIP_EXPORT Result hipLaunchHostFunc(Stream* stream, HostFunction function, void* data) {
  return device_api([&] {
    require(function != nullptr, kInvalidValue, "the host function is null");
    issue(stream, [=] { function(data); });
  });
}

RADIANCE_HIP_EXPORT Result hipStreamAddCallback(Stream* stream, StreamCallback callback, void* data,
                                                unsigned flags) {
  return device_api([&] {
    require(callback != nullptr && flags == 0, kInvalidValue,
            "a callback must not be null and its flags are 0");
    issue(stream, [=] { callback(stream, kSuccess, data); });
  });
}

RADIANCE_HIP_EXPORT Result hipThreadExchangeStreamCaptureMode(CaptureMode* mode) {
  return device_api([&] {
    require(mode != nullptr && *mode >= kCaptureGlobal && *mode <= kCaptureRelaxed, kInvalidValue,
            "that is no capture mode");
    std::swap(*mode, thread_mode());
  });
}

RADIANCE_HIP_EXPORT Result hipStreamBeginCapture(Stream* stream, CaptureMode mode) {
  return device_api([&] { begin_capture(stream, mode); });
}

RADIANCE_HIP_EXPORT Result hipStreamEndCapture(Stream* stream, Graph** graph) {
  return device_api([&] { end_capture(stream, graph); });
}

RADIANCE_HIP_EXPORT Result hipStreamIsCapturing(Stream* handle, CaptureStatus* status) {
  return device_api([&] {
    require(status != nullptr, kInvalidValue, "the pointer for the status is null");
    const Stream& stream = stream_of(handle);
    *status = stream.capture == nullptr     ? kCaptureNone
              : stream.capture->invalidated ? kCaptureInvalidated
                                            : kCaptureActive;
  });
}

RADIANCE_HIP_EXPORT Result hipStreamGetCaptureInfo(Stream* handle, CaptureStatus* status,
                                                   unsigned long long* number) {
  return device_api([&] {
    require(status != nullptr, kInvalidValue, "the pointer for the status is null");
    const Stream& stream = stream_of(handle);
    *status = stream.capture == nullptr     ? kCaptureNone
              : stream.capture->invalidated ? kCaptureInvalidated
                                            : kCaptureActive;
    if (number != nullptr && stream.capture != nullptr) *number = stream.capture->number;
  });
}

}  // namespace radiance::emulator::hip
