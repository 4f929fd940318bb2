// The C interface: argument structs by size, exceptions to status codes, nothing else.
#include <algorithm>
#include <cstring>
#include <new>
#include <string>

#include "linear/linear.hpp"
#include "radiance/radiance.h"

struct radiance_device {
  radiance::Engine engine;
};

struct radiance_linear {
  radiance::Linear linear;
};

namespace {

using radiance::Error;

// A fixed buffer: reporting an error must not fail for want of memory.
thread_local char last_error[512] = "";

void set_last_error(const char* sentence) {
  std::strncpy(last_error, sentence, sizeof(last_error) - 1);
  last_error[sizeof(last_error) - 1] = '\0';
}

template <typename Body>
radiance_status guarded(Body&& body) noexcept {
  try {
    body();
    return RADIANCE_OK;
  } catch (const Error& error) {
    set_last_error(error.what());
    return error.status();
  } catch (const std::bad_alloc&) {
    set_last_error("the host is out of memory");
    return RADIANCE_OUT_OF_MEMORY;
  } catch (const std::exception& error) {
    set_last_error(error.what());
    return RADIANCE_INTERNAL;
  }
}

void require(const void* pointer, const char* name) {
  if (pointer == nullptr) throw Error(RADIANCE_INVALID_ARGUMENT, std::string(name) + " is null");
}

// The caller's struct in this version's size: what the caller does not have is zero.
template <typename Struct>
Struct sized_copy(const Struct* given, const char* name) {
  require(given, name);
  if (given->struct_size < sizeof(size_t)) {
    throw Error(RADIANCE_INVALID_ARGUMENT, std::string(name) + ".struct_size is not set");
  }
  Struct copy{};
  std::memcpy(&copy, given, std::min(given->struct_size, sizeof(Struct)));
  return copy;
}

// Gives the caller as much of `value` as its struct has room for.
template <typename Struct>
void sized_store(Struct* out, Struct value, const char* name) {
  require(out, name);
  const size_t size = out->struct_size;
  if (size < sizeof(size_t)) {
    throw Error(RADIANCE_INVALID_ARGUMENT, std::string(name) + ".struct_size is not set");
  }
  value.struct_size = size;
  std::memcpy(out, &value, std::min(size, sizeof(Struct)));
}

template <size_t size>
void copy_text(char (&to)[size], const std::string& from) {
  const size_t length = std::min(from.size(), size - 1);
  std::memcpy(to, from.data(), length);
  to[length] = '\0';
}

}  // namespace

extern "C" {

uint32_t radiance_abi_version(void) { return RADIANCE_ABI_VERSION; }

const char* radiance_last_error(void) { return last_error; }

const char* radiance_status_name(radiance_status status) {
  switch (status) {
    case RADIANCE_OK:
      return "ok";
    case RADIANCE_INVALID_ARGUMENT:
      return "invalid argument";
    case RADIANCE_UNSUPPORTED:
      return "unsupported";
    case RADIANCE_BAD_INPUT:
      return "bad input";
    case RADIANCE_NO_DEVICE:
      return "no device";
    case RADIANCE_DEVICE_ERROR:
      return "device error";
    case RADIANCE_OUT_OF_MEMORY:
      return "out of memory";
    case RADIANCE_WORKSPACE_TOO_SMALL:
      return "workspace too small";
    case RADIANCE_VERSION_MISMATCH:
      return "version mismatch";
    case RADIANCE_INTERNAL:
      return "internal error";
  }
  return "unknown status";
}

radiance_status radiance_device_open(const char* name, const radiance_device_options* options,
                                     radiance_device** device) {
  return guarded([&] {
    require(device, "device");
    radiance::DeviceOptions chosen;
    if (options != nullptr) chosen.threads = sized_copy(options, "options").threads;
    *device = new radiance_device{radiance::Engine(name == nullptr ? "" : name, chosen)};
  });
}

void radiance_device_close(radiance_device* device) { delete device; }

radiance_status radiance_device_get_info(const radiance_device* device,
                                         radiance_device_info* info) {
  return guarded([&] {
    require(device, "device");
    const radiance::DeviceInfo& from = device->engine.device().info();
    radiance_device_info to{};
    copy_text(to.name, from.name);
    copy_text(to.description, from.description);
    copy_text(to.arch, from.arch);
    to.units = from.units;
    to.memory_bytes = from.memory_bytes;
    to.last_cache_bytes = from.last_cache_bytes;
    sized_store(info, to, "info");
  });
}

radiance_status radiance_device_alloc(radiance_device* device, size_t bytes, void** pointer) {
  return guarded([&] {
    require(device, "device");
    require(pointer, "pointer");
    *pointer = device->engine.device().allocate(bytes == 0 ? 1 : bytes);
  });
}

radiance_status radiance_device_free(radiance_device* device, void* pointer) {
  return guarded([&] {
    require(device, "device");
    if (pointer != nullptr) device->engine.device().release(pointer);
  });
}

radiance_status radiance_device_upload(radiance_device* device, void* to_device,
                                       const void* from_host, size_t bytes) {
  return guarded([&] {
    require(device, "device");
    if (bytes == 0) return;
    require(to_device, "to_device");
    require(from_host, "from_host");
    device->engine.device().upload(to_device, from_host, bytes);
  });
}

radiance_status radiance_device_download(radiance_device* device, void* to_host,
                                         const void* from_device, size_t bytes) {
  return guarded([&] {
    require(device, "device");
    if (bytes == 0) return;
    require(to_host, "to_host");
    require(from_device, "from_device");
    device->engine.device().download(to_host, from_device, bytes);
  });
}

radiance_status radiance_packed_bytes(const radiance_device* device,
                                      const radiance_weight_desc* weight, size_t* bytes) {
  return guarded([&] {
    require(device, "device");
    require(bytes, "bytes");
    const auto shape = radiance::checked_shape(sized_copy(weight, "weight"));
    *bytes = device->engine.backend().packed_bytes(shape);
  });
}

radiance_status radiance_pack(radiance_device* device, const radiance_weight_desc* weight,
                              void* packed, size_t packed_bytes) {
  return guarded([&] {
    require(device, "device");
    device->engine.pack(sized_copy(weight, "weight"), packed, packed_bytes);
  });
}

radiance_status radiance_linear_create(radiance_device* device, const void* packed,
                                       size_t packed_bytes, radiance_linear** linear) {
  return guarded([&] {
    require(device, "device");
    require(linear, "linear");
    *linear = new radiance_linear{radiance::Linear(device->engine, packed, packed_bytes)};
  });
}

void radiance_linear_destroy(radiance_linear* linear) { delete linear; }

radiance_status radiance_linear_get_info(const radiance_linear* linear,
                                         radiance_linear_info* info) {
  return guarded([&] {
    require(linear, "linear");
    const radiance::PackedHeader& header = linear->linear.header();
    radiance_linear_info to{};
    to.format = static_cast<radiance_format>(header.format);
    to.n = header.n;
    to.k = header.k;
    to.group = header.group;
    copy_text(to.target, header.target);
    to.layout_version = header.layout_version;
    to.packed_bytes = header.packed_bytes;
    sized_store(info, to, "info");
  });
}

radiance_status radiance_workspace_bytes(const radiance_linear* linear, int64_t max_m,
                                         size_t* bytes) {
  return guarded([&] {
    require(linear, "linear");
    require(bytes, "bytes");
    *bytes = linear->linear.workspace_bytes(max_m);
  });
}

radiance_status radiance_workspace_init(radiance_device* device, void* workspace, size_t bytes,
                                        void* stream) {
  return guarded([&] {
    require(device, "device");
    if (bytes == 0) return;
    require(workspace, "workspace");
    device->engine.device().fill(workspace, 0, bytes, stream);
  });
}

radiance_status radiance_forward(const radiance_linear* linear, const radiance_forward_args* args) {
  return guarded([&] {
    require(linear, "linear");
    const radiance_forward_args given = sized_copy(args, "args");
    radiance::ForwardCall call;
    call.x = given.x;
    call.x_dtype = given.x_dtype;
    call.ldx = given.ldx;
    call.gemm.m = given.m;
    call.gemm.y = given.y;
    call.gemm.y_dtype = given.y_dtype;
    call.gemm.ldy = given.ldy;
    call.gemm.bias = given.bias;
    call.gemm.bias_dtype = given.bias_dtype;
    call.gemm.workspace = given.workspace;
    call.gemm.workspace_bytes = given.workspace_bytes;
    call.gemm.stream = given.stream;
    linear->linear.forward(call);
  });
}

radiance_status radiance_quantize_activations(radiance_device* device,
                                              const radiance_quantize_args* args) {
  return guarded([&] {
    require(device, "device");
    const radiance_quantize_args given = sized_copy(args, "args");
    radiance::QuantizeCall call;
    call.m = given.m;
    call.k = given.k;
    call.x = given.x;
    call.x_dtype = given.x_dtype;
    call.ldx = given.ldx;
    call.xq = given.xq;
    call.scales = given.scales;
    call.group = given.group;
    call.row_sums = given.row_sums;
    call.stream = given.stream;
    device->engine.quantize(call);
  });
}

radiance_status radiance_gemm(const radiance_linear* linear, const radiance_gemm_args* args) {
  return guarded([&] {
    require(linear, "linear");
    const radiance_gemm_args given = sized_copy(args, "args");
    radiance::GemmCall call;
    call.m = given.m;
    call.xq = given.xq;
    call.x_scales = given.x_scales;
    call.y = given.y;
    call.y_dtype = given.y_dtype;
    call.ldy = given.ldy;
    call.bias = given.bias;
    call.bias_dtype = given.bias_dtype;
    call.workspace = given.workspace;
    call.workspace_bytes = given.workspace_bytes;
    call.stream = given.stream;
    linear->linear.gemm(call);
  });
}

radiance_status radiance_explain(const radiance_linear* linear, int64_t m, char* text,
                                 size_t bytes) {
  return guarded([&] {
    require(linear, "linear");
    require(text, "text");
    if (bytes == 0) throw Error(RADIANCE_INVALID_ARGUMENT, "bytes is 0");
    const radiance::Plan plan = linear->linear.plan(m);
    const std::string line = plan.config + ": " + plan.reason;
    const size_t length = std::min(line.size(), bytes - 1);
    std::memcpy(text, line.data(), length);
    text[length] = '\0';
  });
}

}  // extern "C"
