// Variables of a program's own device code, by the address of their host side.
#include "emulator/hip/copy.hpp"
#include "emulator/hip/errors.hpp"
#include "emulator/hip/registration.hpp"
#include "emulator/hip/stream.hpp"

namespace radiance::emulator::hip {
namespace {

// The address of `bytes` bytes from `offset` on within a variable.
char* inside(const void* host_variable, size_t bytes, size_t offset) {
  const Global variable = registered_variable(host_variable);
  if (offset > variable.bytes || bytes > variable.bytes - offset) {
    fail(kInvalidValue, "a copy of " + std::to_string(bytes) + " bytes from byte " +
                            std::to_string(offset) + " on leaves its variable of " +
                            std::to_string(variable.bytes));
  }
  return static_cast<char*>(variable.address) + offset;
}

void require_to_symbol(int kind) {
  require(kind == kHostToDevice || kind == kDeviceToDevice || kind == kDefaultKind,
          kInvalidMemcpyDirection, "a variable is copied to from the host or the device");
}

void require_from_symbol(int kind) {
  require(kind == kDeviceToHost || kind == kDeviceToDevice || kind == kDefaultKind,
          kInvalidMemcpyDirection, "a variable is copied from to the host or the device");
}

}  // namespace

RADIANCE_HIP_EXPORT Result hipGetSymbolAddress(void** address, const void* host_variable) {
  return device_api([&] {
    require(address != nullptr, kInvalidValue, "the pointer for the address is null");
    *address = registered_variable(host_variable).address;
  });
}

RADIANCE_HIP_EXPORT Result hipGetSymbolSize(size_t* bytes, const void* host_variable) {
  return device_api([&] {
    require(bytes != nullptr, kInvalidValue, "the pointer for the size is null");
    *bytes = registered_variable(host_variable).bytes;
  });
}

RADIANCE_HIP_EXPORT Result hipMemcpyToSymbol(const void* host_variable, const void* from,
                                             size_t bytes, size_t offset, int kind) {
  return device_api([&] {
    require_to_symbol(kind);
    forbid_during_capture("hipMemcpyToSymbol");
    char* const to = inside(host_variable, bytes, offset);
    if (bytes > 0) issue(nullptr, [=] { copy_now(to, from, bytes, kind); });
  });
}

RADIANCE_HIP_EXPORT Result hipMemcpyToSymbolAsync(const void* host_variable, const void* from,
                                                  size_t bytes, size_t offset, int kind,
                                                  Stream* stream) {
  return device_api([&] {
    require_to_symbol(kind);
    char* const to = inside(host_variable, bytes, offset);
    if (bytes == 0) return;
    check_copy(to, from, bytes, kind);
    issue(stream, [=] { copy_now(to, from, bytes, kind); });
  });
}

RADIANCE_HIP_EXPORT Result hipMemcpyFromSymbol(void* to, const void* host_variable, size_t bytes,
                                               size_t offset, int kind) {
  return device_api([&] {
    require_from_symbol(kind);
    forbid_during_capture("hipMemcpyFromSymbol");
    const char* const from = inside(host_variable, bytes, offset);
    if (bytes > 0) issue(nullptr, [=] { copy_now(to, from, bytes, kind); });
  });
}

RADIANCE_HIP_EXPORT Result hipMemcpyFromSymbolAsync(void* to, const void* host_variable,
                                                    size_t bytes, size_t offset, int kind,
                                                    Stream* stream) {
  return device_api([&] {
    require_from_symbol(kind);
    const char* const from = inside(host_variable, bytes, offset);
    if (bytes == 0) return;
    check_copy(to, from, bytes, kind);
    issue(stream, [=] { copy_now(to, from, bytes, kind); });
  });
}

}  // namespace radiance::emulator::hip
