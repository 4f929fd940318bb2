#include "runtime/hip_driver.hpp"

#include <dlfcn.h>

#include <array>
#include <cstring>
#include <vector>

#include "runtime/emulator_path.hpp"

namespace radiance::hip {
namespace {

// Exported by the emulator only. It has ROCm's SONAME, so that once it is loaded the loader gives
// it out for "libamdhip64.so.7" as well; whoever wants ROCm must look.
constexpr const char* kEmulatorMark = "radiance_emulator_version";

constexpr std::array kRocmNames = {
    "libamdhip64.so.7",
    "libamdhip64.so.6",
    "libamdhip64.so",
    "/opt/rocm/lib/libamdhip64.so.7",
    "/opt/rocm/lib/libamdhip64.so.6",
    "/opt/rocm/lib/libamdhip64.so",
};

template <typename Function>
bool find_optional(void* library, const char* name, Function* function) {
  *function = reinterpret_cast<Function>(dlsym(library, name));
  return *function != nullptr;
}

template <typename Function>
void find(void* library, const char* name, Function* function) {
  if (!find_optional(library, name, function)) {
    throw Error(RADIANCE_NO_DEVICE, std::string("the HIP runtime is too old: it lacks ") + name);
  }
}

void find_emulator_functions(void* library, EmulatorFunctions* e) {
  if (!find_optional(library, kEmulatorMark, &e->version)) return;
  find(library, "radiance_emulator_set_option", &e->set_option);
  find(library, "radiance_emulator_last_report", &e->last_report);
  find(library, "radiance_emulator_counters", &e->counters);
  find(library, "radiance_emulator_reset_counters", &e->reset_counters);
  find(library, "radiance_emulator_supported", &e->supported);
}

Driver bind(void* library) {
  Driver d{};
  find(library, "hipInit", &d.init);
  find(library, "hipRuntimeGetVersion", &d.runtime_version);
  find(library, "hipGetErrorString", &d.error_string);
  find(library, "hipGetLastError", &d.last_error);
  find(library, "hipGetDeviceCount", &d.device_count);
  find(library, "hipSetDevice", &d.set_device);
  find(library, "hipGetDevice", &d.get_device);
  if (!find_optional(library, "hipGetDevicePropertiesR0600", &d.properties_r0600)) {
    find(library, "hipGetDeviceProperties", &d.properties_r0000);
  }
  find(library, "hipMalloc", &d.memory_allocate);
  find(library, "hipFree", &d.memory_free);
  find(library, "hipMemcpyHtoD", &d.copy_to_device);
  find(library, "hipMemcpyDtoH", &d.copy_to_host);
  find(library, "hipMemcpyHtoDAsync", &d.copy_to_device_async);
  find(library, "hipMemcpyDtoHAsync", &d.copy_to_host_async);
  find(library, "hipMemsetAsync", &d.memset_async);
  find(library, "hipStreamCreateWithFlags", &d.stream_create);
  find(library, "hipStreamDestroy", &d.stream_destroy);
  find(library, "hipStreamSynchronize", &d.stream_synchronize);
  find(library, "hipStreamBeginCapture", &d.stream_begin_capture);
  find(library, "hipStreamEndCapture", &d.stream_end_capture);
  find(library, "hipGraphInstantiate", &d.graph_instantiate);
  find(library, "hipGraphLaunch", &d.graph_launch);
  find(library, "hipGraphExecDestroy", &d.graph_exec_destroy);
  find(library, "hipGraphDestroy", &d.graph_destroy);
  find(library, "hipEventCreateWithFlags", &d.event_create);
  find(library, "hipEventDestroy", &d.event_destroy);
  find(library, "hipEventRecord", &d.event_record);
  find(library, "hipEventSynchronize", &d.event_synchronize);
  find(library, "hipEventElapsedTime", &d.event_elapsed_ms);
  find(library, "hipModuleLoadData", &d.module_load_data);
  find(library, "hipModuleUnload", &d.module_unload);
  find(library, "hipModuleGetFunction", &d.module_get_function);
  find(library, "hipFuncGetAttribute", &d.function_attribute);
  find(library, "hipModuleLaunchKernel", &d.launch_kernel);
  find_emulator_functions(library, &d.emulator);
  if (const Result result = d.init(0); result != 0) {
    throw Error(RADIANCE_NO_DEVICE,
                std::string("the HIP runtime does not start: ") + d.error_string(result));
  }
  return d;
}

Driver load_rocm() {
  for (const char* name : kRocmNames) {
    void* library = dlopen(name, RTLD_NOW | RTLD_LOCAL);
    if (library == nullptr) continue;
    if (dlsym(library, kEmulatorMark) == nullptr) return bind(library);
    dlclose(library);
  }
  throw Error(RADIANCE_NO_DEVICE,
              "the HIP runtime (libamdhip64.so.7 or .so.6, of ROCm) is not installed");
}

Driver load_emulator() {
  std::string looked_in;
  for (const std::string& path : emulator_paths()) {
    void* library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (library != nullptr) return bind(library);
    looked_in += (looked_in.empty() ? "" : ", ") + path;
  }
  throw Error(RADIANCE_NO_DEVICE, "the gfx1201 emulator is not there: looked for " + looked_in);
}

template <typename T>
T field(const unsigned char* bytes, size_t offset) {
  T value;
  std::memcpy(&value, bytes + offset, sizeof(T));
  return value;
}

std::string text_field(const unsigned char* bytes, size_t offset) {
  constexpr size_t kTextBytes = 256;
  const auto* text = reinterpret_cast<const char*>(bytes + offset);
  return std::string(text, strnlen(text, kTextBytes));
}

}  // namespace

Properties read_properties_r0600(const unsigned char* bytes) {
  Properties p;
  p.name = text_field(bytes, 0);
  p.memory_bytes = field<size_t>(bytes, 288);
  p.multiprocessors = field<int>(bytes, 388);
  p.l2_bytes = static_cast<uint64_t>(field<int>(bytes, 616));
  p.arch = text_field(bytes, 1160);
  return p;
}

Properties read_properties_r0000(const unsigned char* bytes) {
  Properties p;
  p.name = text_field(bytes, 0);
  p.memory_bytes = field<size_t>(bytes, 256);
  p.multiprocessors = field<int>(bytes, 336);
  p.l2_bytes = static_cast<uint64_t>(field<int>(bytes, 340));
  p.arch = text_field(bytes, 396);
  return p;
}

std::string Driver::version_text() const {
  int version = 0;
  std::string text = "HIP";
  if (runtime_version(&version) == 0) {
    for (const int part : {version / 10000000, version / 100000 % 100, version % 100000}) {
      text += text.size() > 3 ? '.' : ' ';
      text += std::to_string(part);
    }
  }
  return is_emulator() ? std::string(emulator.version()) + " (" + text + ")" : text;
}

Properties Driver::properties(DeviceId device) const {
  // Twice the size: a later runtime may write a longer struct.
  std::vector<unsigned char> bytes(2 * kPropertiesR0600Bytes);
  if (properties_r0600 != nullptr) {
    check(properties_r0600(bytes.data(), device), "asking for the device's properties");
    return read_properties_r0600(bytes.data());
  }
  check(properties_r0000(bytes.data(), device), "asking for the device's properties");
  return read_properties_r0000(bytes.data());
}

void Driver::check(Result result, const char* doing) const {
  if (result == 0) return;
  // The runtime keeps the error of this thread for whoever asks next, which is not to be torch.
  last_error();
  const char* text = error_string(result);
  std::string sentence = std::string("HIP, ") + doing + ": " +
                         (text != nullptr ? text : "error " + std::to_string(result));
  if (is_emulator() && *emulator.last_report() != '\0') {
    sentence += std::string("; ") + emulator.last_report();
  }
  throw Error(result == kOutOfMemory      ? RADIANCE_OUT_OF_MEMORY
              : result == kNoBinaryForGpu ? RADIANCE_UNSUPPORTED
                                          : RADIANCE_DEVICE_ERROR,
              sentence);
}

const Driver& rocm() {
  static const Driver loaded = load_rocm();  // tried again by the next call if it throws
  return loaded;
}

const Driver& emulator() {
  static const Driver loaded = load_emulator();
  return loaded;
}

}  // namespace radiance::hip
