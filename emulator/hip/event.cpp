// Events. Their times are the host's: how long the emulator took, not how long a card would.
#include <chrono>
#include <map>

#include "emulator/hip/errors.hpp"
#include "emulator/hip/event.hpp"
#include "emulator/hip/stream.hpp"

namespace radiance::emulator::hip {

using Clock = std::chrono::steady_clock;

struct Event {
  unsigned flags = 0;
  bool recorded = false;
  Clock::time_point time;
  // Where it was last recorded, if that stream was being captured.
  std::weak_ptr<Capture> capture;
  bool captured = false;
  Stream* stream = nullptr;
};

namespace {

constexpr unsigned kDisableTiming = 2;

struct Events {
  std::mutex mutex;
  std::map<Event*, std::unique_ptr<Event>> created;
};

Events& events() {
  static Events* const only = new Events;
  return *only;
}

// The lock must be held.
Event& find(Event* handle) {
  const auto found = events().created.find(handle);
  require(found != events().created.end(), kInvalidHandle, "that is no event");
  return *found->second;
}

void create(Event** event, unsigned flags) {
  require(event != nullptr, kInvalidValue, "the pointer for the new event is null");
  auto made = std::make_unique<Event>();
  made->flags = flags;
  *event = made.get();
  const std::lock_guard lock(events().mutex);
  events().created[made.get()] = std::move(made);
}

void stamp(Event* handle) {
  const std::lock_guard lock(events().mutex);
  const auto found = events().created.find(handle);
  if (found == events().created.end()) return;  // destroyed since the capture
  found->second->recorded = true;
  found->second->time = Clock::now();
}

void record(Event* handle, Stream* stream_handle) {
  Stream& stream = stream_of(stream_handle);
  {
    const std::lock_guard lock(events().mutex);
    Event& event = find(handle);
    event.captured = stream.capture != nullptr;
    event.capture = stream.capture;
    event.stream = &stream;
  }
  // In a capture this is a dependency and not a time.
  if (stream.capture == nullptr) issue(stream_handle, [handle] { stamp(handle); });
}

void wait(Stream* stream_handle, Event* handle) {
  Stream& stream = stream_of(stream_handle);
  std::shared_ptr<Capture> capture;
  Stream* recorded_on = nullptr;
  {
    const std::lock_guard lock(events().mutex);
    const Event& event = find(handle);
    capture = event.capture.lock();
    recorded_on = event.stream;
    if (!event.captured) {
      require(stream.capture == nullptr || !event.recorded, kStreamCaptureIsolation,
              "a captured stream cannot wait for an event from outside the capture");
      return;
    }
  }
  require(capture != nullptr, kCapturedEvent, "the event was recorded in a capture that has ended");
  join_capture(stream, capture, recorded_on);
}

}  // namespace

void destroy_all_events() {
  const std::lock_guard lock(events().mutex);
  events().created.clear();
}

RADIANCE_HIP_EXPORT Result hipEventCreate(Event** event) {
  return device_api([&] { create(event, 0); });
}

RADIANCE_HIP_EXPORT Result hipEventCreateWithFlags(Event** event, unsigned flags) {
  return device_api([&] { create(event, flags); });
}

RADIANCE_HIP_EXPORT Result hipEventDestroy(Event* event) {
  return api([&] {
    const std::lock_guard lock(events().mutex);
    require(events().created.erase(event) == 1, kInvalidHandle, "that is no event");
  });
}

RADIANCE_HIP_EXPORT Result hipEventRecord(Event* event, Stream* stream) {
  return device_api([&] { record(event, stream); });
}

RADIANCE_HIP_EXPORT Result hipEventRecordWithFlags(Event* event, Stream* stream, unsigned) {
  return device_api([&] { record(event, stream); });
}

RADIANCE_HIP_EXPORT Result hipEventSynchronize(Event* event) {
  return device_api([&] {
    const std::lock_guard lock(events().mutex);
    require(!find(event).captured, kCapturedEvent,
            "the event was last recorded in a stream that is being captured");
  });
}

RADIANCE_HIP_EXPORT Result hipEventQuery(Event* event) {
  return device_api([&] {
    const std::lock_guard lock(events().mutex);
    require(!find(event).captured, kCapturedEvent,
            "the event was last recorded in a stream that is being captured");
  });
}

RADIANCE_HIP_EXPORT Result hipEventElapsedTime(float* ms, Event* first, Event* second) {
  return device_api([&] {
    require(ms != nullptr, kInvalidValue, "the pointer for the time is null");
    const std::lock_guard lock(events().mutex);
    const Event& a = find(first);
    const Event& b = find(second);
    require(a.recorded && b.recorded, kInvalidHandle, "an event was not recorded");
    require(((a.flags | b.flags) & kDisableTiming) == 0, kInvalidHandle,
            "an event was made without timing");
    *ms = std::chrono::duration<float, std::milli>(b.time - a.time).count();
  });
}

RADIANCE_HIP_EXPORT Result hipStreamWaitEvent(Stream* stream, Event* event, unsigned) {
  return device_api([&] { wait(stream, event); });
}

}  // namespace radiance::emulator::hip
