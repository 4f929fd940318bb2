#include "runtime/hip_device.hpp"

namespace radiance {
namespace {

constexpr const char* kArch = "gfx1201";
// Behind the 8 MB of L2 that HIP reports stands a cache of 64 MB, of which it does not tell.
constexpr uint64_t kInfinityCacheBytes = uint64_t{64} << 20;

hip::Stream stream_of(StreamHandle handle) { return static_cast<hip::Stream>(handle); }
hip::Event event_of(EventHandle handle) { return static_cast<hip::Event>(handle); }

// "gfx1201", or that with features behind it; not "gfx12010".
bool is_arch(const std::string& text) {
  return text.starts_with(kArch) &&
         (text.size() == std::string(kArch).size() || text[std::string(kArch).size()] == ':');
}

}  // namespace

HipScope::HipScope(const hip::Driver& driver, hip::DeviceId device) : driver_(&driver) {
  driver.check(driver.get_device(&former_), "asking for the current device");
  if (former_ == device) return;
  driver.check(driver.set_device(device), "making the device current");
  changed_ = true;
}

HipScope::~HipScope() {
  if (changed_) driver_->set_device(former_);
}

HipDevice::HipDevice(const hip::Driver& driver, const std::string& name, int index)
    : driver_(driver), id_(index) {
  int count = 0;
  // Without a GPU the runtime calls that an error.
  if (const hip::Result result = driver_.device_count(&count); result != hip::kNoDevice) {
    driver_.check(result, "counting devices");
  }
  if (index < 0 || index >= count) {
    throw Error(RADIANCE_NO_DEVICE, "device \"" + name + "\" is not here: the HIP runtime shows " +
                                        std::to_string(count) + " GPU(s)");
  }
  const hip::Properties properties = driver_.properties(index);
  if (!is_arch(properties.arch)) {
    throw Error(RADIANCE_UNSUPPORTED, "device \"" + name + "\" (" + properties.name + ") is " +
                                          properties.arch + "; the kernels are for " + kArch);
  }
  info_.name = name;
  info_.description = properties.name;
  info_.arch = kArch;
  info_.driver = driver_.version_text();
  info_.units = compute_units(properties.multiprocessors);
  info_.memory_bytes = properties.memory_bytes;
  info_.last_cache_bytes = kInfinityCacheBytes;
}

void* HipDevice::allocate(size_t bytes) {
  const HipScope scope(driver_, id_);
  void* pointer = nullptr;
  driver_.check(driver_.memory_allocate(&pointer, bytes), "allocating memory");
  return pointer;
}

void HipDevice::release(void* pointer) noexcept {
  if (pointer == nullptr) return;
  try {
    const HipScope scope(driver_, id_);
    driver_.memory_free(pointer);
  } catch (const Error&) {
    // The device is gone, and its memory with it.
  }
}

void HipDevice::upload(void* to_device, const void* from_host, size_t bytes) {
  if (bytes == 0) return;
  const HipScope scope(driver_, id_);
  driver_.check(driver_.copy_to_device(to_device, from_host, bytes), "copying to the device");
}

void HipDevice::download(void* to_host, const void* from_device, size_t bytes) {
  if (bytes == 0) return;
  const HipScope scope(driver_, id_);
  driver_.check(driver_.copy_to_host(to_host, const_cast<void*>(from_device), bytes),
                "copying to the host");
}

void HipDevice::fill(void* pointer, int byte, size_t bytes, StreamHandle stream) {
  if (bytes == 0) return;
  const HipScope scope(driver_, id_);
  driver_.check(driver_.memset_async(pointer, byte, bytes, stream_of(stream)), "filling memory");
}

void HipDevice::synchronize(StreamHandle stream) {
  const HipScope scope(driver_, id_);
  driver_.check(driver_.stream_synchronize(stream_of(stream)), "waiting for a stream");
}

StreamHandle HipDevice::create_stream() {
  const HipScope scope(driver_, id_);
  hip::Stream stream = nullptr;
  driver_.check(driver_.stream_create(&stream, hip::kNonBlocking), "creating a stream");
  return stream;
}

void HipDevice::destroy_stream(StreamHandle stream) noexcept {
  if (stream != nullptr) driver_.stream_destroy(stream_of(stream));
}

EventHandle HipDevice::create_event() {
  const HipScope scope(driver_, id_);
  hip::Event event = nullptr;
  driver_.check(driver_.event_create(&event, 0), "creating an event");
  return event;
}

void HipDevice::destroy_event(EventHandle event) noexcept {
  if (event != nullptr) driver_.event_destroy(event_of(event));
}

void HipDevice::record(EventHandle event, StreamHandle stream) {
  const HipScope scope(driver_, id_);
  driver_.check(driver_.event_record(event_of(event), stream_of(stream)), "recording an event");
}

double HipDevice::elapsed_us(EventHandle first, EventHandle second) {
  const HipScope scope(driver_, id_);
  driver_.check(driver_.event_synchronize(event_of(second)), "waiting for an event");
  float ms = 0;
  driver_.check(driver_.event_elapsed_ms(&ms, event_of(first), event_of(second)),
                "reading the time");
  return static_cast<double>(ms) * 1e3;
}

std::optional<std::string> HipDevice::take_counters() {
  if (!driver_.is_emulator()) return std::nullopt;
  std::string counters = driver_.emulator.counters();
  driver_.emulator.reset_counters();
  return counters;
}

}  // namespace radiance
