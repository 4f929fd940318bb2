#include "runtime/cuda_device.hpp"

namespace radiance {
namespace {

using cuda::check;
using cuda::driver;

cuda::Pointer address(const void* pointer) { return reinterpret_cast<cuda::Pointer>(pointer); }

cuda::Stream stream_of(StreamHandle handle) { return static_cast<cuda::Stream>(handle); }
cuda::Event event_of(EventHandle handle) { return static_cast<cuda::Event>(handle); }

class CudaGraph final : public Graph {
 public:
  CudaGraph(cuda::Context context, cuda::Graph graph) : context_(context) {
    const CudaScope scope(context_);
    const cuda::Result result = driver().graph_instantiate(&executable_, graph, 0);
    driver().graph_destroy(graph);
    check(result, "instantiating a graph");
  }
  ~CudaGraph() override { driver().graph_exec_destroy(executable_); }

  void launch(StreamHandle stream) override {
    const CudaScope scope(context_);
    check(driver().graph_launch(executable_, stream_of(stream)), "launching a graph");
  }

 private:
  cuda::Context context_;
  cuda::GraphExec executable_ = nullptr;
};

}  // namespace

CudaScope::CudaScope(cuda::Context context) {
  cuda::Context current = nullptr;
  check(driver().context_get_current(&current), "asking for the current context");
  if (current == context) return;
  check(driver().context_push(context), "making the context current");
  pushed_ = true;
}

CudaScope::~CudaScope() {
  cuda::Context popped = nullptr;
  if (pushed_) driver().context_pop(&popped);
}

CudaDevice::CudaDevice(const std::string& name, int index) {
  const cuda::Driver& d = driver();
  int count = 0;
  check(d.device_count(&count), "counting devices");
  if (index < 0 || index >= count) {
    throw Error(RADIANCE_NO_DEVICE, "device \"" + name + "\" is not here: the driver shows " +
                                        std::to_string(count) + " GPU(s)");
  }
  check(d.device_get(&id_, index), "opening the device");
  char text[128] = {};
  check(d.device_name(text, sizeof(text), id_), "asking for the device's name");
  const auto attribute = [&](int which) {
    int value = 0;
    check(d.device_attribute(&value, which, id_), "asking for a device attribute");
    return value;
  };
  const int major = attribute(cuda::kComputeMajor), minor = attribute(cuda::kComputeMinor);
  if (major != 9 || minor != 0) {
    throw Error(RADIANCE_UNSUPPORTED, "device \"" + name + "\" (" + text + ") is sm_" +
                                          std::to_string(major) + std::to_string(minor) +
                                          "; the kernels are for sm_90a (Hopper)");
  }
  size_t memory = 0;
  check(d.device_total_memory(&memory, id_), "asking for the device's memory");
  info_.name = name;
  info_.description = text;
  info_.arch = "sm90";
  int version = 0;  // 1000 * major + 10 * minor
  check(d.driver_version(&version), "asking for the driver's version");
  info_.driver =
      "CUDA " + std::to_string(version / 1000) + "." + std::to_string(version % 1000 / 10);
  info_.units = attribute(cuda::kMultiprocessorCount);
  info_.memory_bytes = memory;
  info_.last_cache_bytes = static_cast<uint64_t>(attribute(cuda::kL2CacheBytes));
  check(d.primary_context_retain(&context_, id_), "retaining the primary context");
}

CudaDevice::~CudaDevice() {
  if (context_ != nullptr) driver().primary_context_release(id_);
}

void* CudaDevice::allocate(size_t bytes) {
  const CudaScope scope(context_);
  cuda::Pointer pointer = 0;
  check(driver().memory_allocate(&pointer, bytes), "allocating memory");
  return reinterpret_cast<void*>(pointer);
}

void CudaDevice::release(void* pointer) noexcept {
  if (pointer == nullptr) return;
  try {
    const CudaScope scope(context_);
    driver().memory_free(address(pointer));
  } catch (const Error&) {
    // The context is gone, and its memory with it.
  }
}

void CudaDevice::upload(void* to_device, const void* from_host, size_t bytes) {
  const CudaScope scope(context_);
  check(driver().copy_to_device(address(to_device), from_host, bytes), "copying to the device");
}

void CudaDevice::download(void* to_host, const void* from_device, size_t bytes) {
  const CudaScope scope(context_);
  check(driver().copy_to_host(to_host, address(from_device), bytes), "copying to the host");
}

void CudaDevice::fill(void* pointer, int byte, size_t bytes, StreamHandle stream) {
  if (bytes == 0) return;
  const CudaScope scope(context_);
  check(driver().memset_d8_async(address(pointer), static_cast<unsigned char>(byte), bytes,
                                 stream_of(stream)),
        "filling memory");
}

void CudaDevice::synchronize(StreamHandle stream) {
  const CudaScope scope(context_);
  check(driver().stream_synchronize(stream_of(stream)), "waiting for a stream");
}

StreamHandle CudaDevice::create_stream() {
  const CudaScope scope(context_);
  constexpr unsigned kNonBlocking = 1;
  cuda::Stream stream = nullptr;
  check(driver().stream_create(&stream, kNonBlocking), "creating a stream");
  return stream;
}

void CudaDevice::destroy_stream(StreamHandle stream) noexcept {
  if (stream != nullptr) driver().stream_destroy(stream_of(stream));
}

EventHandle CudaDevice::create_event() {
  const CudaScope scope(context_);
  cuda::Event event = nullptr;
  check(driver().event_create(&event, 0), "creating an event");
  return event;
}

void CudaDevice::destroy_event(EventHandle event) noexcept {
  if (event != nullptr) driver().event_destroy(event_of(event));
}

void CudaDevice::record(EventHandle event, StreamHandle stream) {
  const CudaScope scope(context_);
  check(driver().event_record(event_of(event), stream_of(stream)), "recording an event");
}

double CudaDevice::elapsed_us(EventHandle first, EventHandle second) {
  const CudaScope scope(context_);
  check(driver().event_synchronize(event_of(second)), "waiting for an event");
  float ms = 0;
  check(driver().event_elapsed_ms(&ms, event_of(first), event_of(second)), "reading the time");
  return static_cast<double>(ms) * 1e3;
}

std::unique_ptr<Graph> CudaDevice::capture(const std::function<void(StreamHandle)>& work) {
  const CudaScope scope(context_);
  const std::unique_ptr<void, std::function<void(void*)>> owner(
      create_stream(), [this](void* handle) { destroy_stream(handle); });
  const cuda::Stream stream = stream_of(owner.get());
  // What other threads do meanwhile is none of this stream's business.
  check(driver().stream_begin_capture(stream, cuda::kCaptureThreadLocal), "recording a graph");
  cuda::Graph graph = nullptr;
  try {
    work(stream);
  } catch (...) {
    // Ends the recording, so that the stream can be destroyed.
    if (driver().stream_end_capture(stream, &graph) == 0) driver().graph_destroy(graph);
    throw;
  }
  check(driver().stream_end_capture(stream, &graph), "recording a graph");
  return std::make_unique<CudaGraph>(context_, graph);
}

}  // namespace radiance
