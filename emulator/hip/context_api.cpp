// Contexts, device flags and peers, as far as one device has them. All contexts share everything:
// HIP's contexts are handles for programs that came from the CUDA driver, deprecated long since.
#include <map>
#include <memory>
#include <vector>

#include "emulator/hip/copy.hpp"
#include "emulator/hip/errors.hpp"
#include "emulator/hip/state.hpp"
#include "emulator/hip/stream.hpp"

namespace radiance::emulator::hip {

struct Context {
  unsigned flags = 0;
};

namespace {

constexpr unsigned kApiVersion = 4;  // as ROCm's hipCtxGetApiVersion has always said
constexpr unsigned kScheduleMask = 7, kMapHost = 8, kResizeLocalMemory = 16;

struct Contexts {
  std::mutex mutex;
  Context primary;
  unsigned retained = 0;  // hipDevicePrimaryCtxRetain's count
  std::map<Context*, std::unique_ptr<Context>> created;
};

Contexts& contexts() {
  static Contexts* const only = new Contexts;
  return *only;
}

// This thread's stack; where it is empty, the primary context is current.
std::vector<Context*>& current() {
  thread_local std::vector<Context*> stack;
  return stack;
}

void require_device_id(int device) {
  require(device == 0, kInvalidDevice, "there is one emulated device, and its number is 0");
}

void check_flags(unsigned flags) {
  require((flags & ~(kScheduleMask | kMapHost | kResizeLocalMemory)) == 0, kInvalidValue,
          "a device has no such flags");
}

// The lock must be held.
void require_context(Context* context) {
  require(context == &contexts().primary || contexts().created.contains(context), kInvalidContext,
          "that is no context");
}

void copy_peer(void* to, int to_device, const void* from, int from_device, size_t bytes,
               Stream* stream) {
  require_device_id(to_device);
  require_device_id(from_device);
  if (bytes == 0) return;
  check_copy(to, from, bytes, kDeviceToDevice);
  issue(stream, [=] { copy_now(to, from, bytes, kDeviceToDevice); });
}

}  // namespace

RADIANCE_HIP_EXPORT Result hipSetDeviceFlags(unsigned flags) {
  return api([&] {
    state().require_ready();
    check_flags(flags);
    const std::lock_guard lock(contexts().mutex);
    contexts().primary.flags = flags;
  });
}

RADIANCE_HIP_EXPORT Result hipGetDeviceFlags(unsigned* flags) {
  return api([&] {
    require(flags != nullptr, kInvalidValue, "the pointer for the flags is null");
    state().require_ready();
    const std::lock_guard lock(contexts().mutex);
    *flags = contexts().primary.flags;
  });
}

RADIANCE_HIP_EXPORT Result hipCtxCreate(Context** context, unsigned flags, int device) {
  return api([&] {
    require(context != nullptr, kInvalidValue, "the pointer for the context is null");
    state().require_ready();
    require_device_id(device);
    check_flags(flags);
    auto made = std::make_unique<Context>(Context{flags});
    *context = made.get();
    const std::lock_guard lock(contexts().mutex);
    contexts().created[made.get()] = std::move(made);
    current().push_back(*context);
  });
}

RADIANCE_HIP_EXPORT Result hipCtxDestroy(Context* context) {
  return api([&] {
    const std::lock_guard lock(contexts().mutex);
    require(contexts().created.erase(context) == 1, kInvalidContext, "that is no created context");
    std::erase(current(), context);
  });
}

RADIANCE_HIP_EXPORT Result hipCtxGetCurrent(Context** context) {
  return api([&] {
    require(context != nullptr, kInvalidValue, "the pointer for the context is null");
    state().require_ready();
    *context = current().empty() ? &contexts().primary : current().back();
  });
}

RADIANCE_HIP_EXPORT Result hipCtxSetCurrent(Context* context) {
  return api([&] {
    const std::lock_guard lock(contexts().mutex);
    if (context != nullptr) require_context(context);
    if (!current().empty()) current().pop_back();
    if (context != nullptr) current().push_back(context);
  });
}

RADIANCE_HIP_EXPORT Result hipCtxPushCurrent(Context* context) {
  return api([&] {
    const std::lock_guard lock(contexts().mutex);
    require_context(context);
    current().push_back(context);
  });
}

RADIANCE_HIP_EXPORT Result hipCtxPopCurrent(Context** context) {
  return api([&] {
    require(!current().empty(), kInvalidContext, "this thread has pushed no context");
    if (context != nullptr) *context = current().back();
    current().pop_back();
  });
}

RADIANCE_HIP_EXPORT Result hipCtxGetDevice(int* device) {
  return api([&] {
    require(device != nullptr, kInvalidValue, "the pointer for the device is null");
    state().require_ready();
    *device = 0;
  });
}

RADIANCE_HIP_EXPORT Result hipCtxGetFlags(unsigned* flags) {
  return api([&] {
    require(flags != nullptr, kInvalidValue, "the pointer for the flags is null");
    state().require_ready();
    const std::lock_guard lock(contexts().mutex);
    Context* const context = current().empty() ? &contexts().primary : current().back();
    require_context(context);  // another thread may have destroyed it
    *flags = context->flags;
  });
}

RADIANCE_HIP_EXPORT Result hipCtxGetApiVersion(Context* context, unsigned* version) {
  return api([&] {
    require(version != nullptr, kInvalidValue, "the pointer for the version is null");
    const std::lock_guard lock(contexts().mutex);
    require_context(context);
    *version = kApiVersion;
  });
}

RADIANCE_HIP_EXPORT Result hipCtxSynchronize() {
  return device_api([] { forbid_during_capture("hipCtxSynchronize"); });
}

RADIANCE_HIP_EXPORT Result hipDevicePrimaryCtxRetain(Context** context, int device) {
  return api([&] {
    require(context != nullptr, kInvalidValue, "the pointer for the context is null");
    state().require_ready();
    require_device_id(device);
    const std::lock_guard lock(contexts().mutex);
    ++contexts().retained;
    *context = &contexts().primary;
  });
}

RADIANCE_HIP_EXPORT Result hipDevicePrimaryCtxRelease(int device) {
  return api([&] {
    require_device_id(device);
    const std::lock_guard lock(contexts().mutex);
    require(contexts().retained > 0, kInvalidContext, "the primary context was not retained");
    --contexts().retained;
  });
}

RADIANCE_HIP_EXPORT Result hipDevicePrimaryCtxGetState(int device, unsigned* flags, int* active) {
  return api([&] {
    require_device_id(device);
    const std::lock_guard lock(contexts().mutex);
    if (flags != nullptr) *flags = contexts().primary.flags;
    if (active != nullptr) *active = contexts().retained > 0 ? 1 : 0;
  });
}

RADIANCE_HIP_EXPORT Result hipDevicePrimaryCtxSetFlags(int device, unsigned flags) {
  return api([&] {
    require_device_id(device);
    check_flags(flags);
    const std::lock_guard lock(contexts().mutex);
    contexts().primary.flags = flags;
  });
}

RADIANCE_HIP_EXPORT Result hipDeviceCanAccessPeer(int* can, int device, int peer) {
  return api([&] {
    require(can != nullptr, kInvalidValue, "the pointer for the answer is null");
    require_device_id(device);
    require_device_id(peer);
    *can = 0;  // a device is no peer of its own
  });
}

RADIANCE_HIP_EXPORT Result hipDeviceEnablePeerAccess(int peer, unsigned) {
  return api([&] {
    require_device_id(peer);
    fail(kInvalidDevice, "a device is no peer of its own");
  });
}

RADIANCE_HIP_EXPORT Result hipDeviceDisablePeerAccess(int peer) {
  return api([&] {
    require_device_id(peer);
    fail(kInvalidDevice, "a device is no peer of its own");
  });
}

RADIANCE_HIP_EXPORT Result hipMemcpyPeer(void* to, int to_device, const void* from, int from_device,
                                         size_t bytes) {
  return device_api([&] {
    forbid_during_capture("hipMemcpyPeer");
    copy_peer(to, to_device, from, from_device, bytes, nullptr);
  });
}

RADIANCE_HIP_EXPORT Result hipMemcpyPeerAsync(void* to, int to_device, const void* from,
                                              int from_device, size_t bytes, Stream* stream) {
  return device_api([&] { copy_peer(to, to_device, from, from_device, bytes, stream); });
}

}  // namespace radiance::emulator::hip
