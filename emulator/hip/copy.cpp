#include "emulator/hip/copy.hpp"

#include <cstring>
#include <string>

#include "emulator/hip/errors.hpp"
#include "emulator/hip/state.hpp"

namespace radiance::emulator::hip {

void require_device(const void* pointer, size_t bytes, const char* side) {
  if (state().memory().contains(pointer, bytes)) return;
  const Allocation found = state().memory().find(pointer);
  const std::string what =
      std::string("the ") + side + " of a copy or fill of " + std::to_string(bytes) + " bytes ";
  if (found.bytes == 0) fail(kInvalidValue, what + "is not device memory");
  fail(kInvalidValue, what + "ends past its allocation of " + std::to_string(found.bytes));
}

void check_copy(const void* to, const void* from, size_t bytes, int kind) {
  require((kind >= kHostToHost && kind <= kDefaultKind) || kind == kDeviceToDeviceNoCU,
          kInvalidMemcpyDirection, "that is no kind of copy");
  require(to != nullptr && from != nullptr, kInvalidValue,
          "a copy's source or destination is null");
  const bool within = kind == kDeviceToDevice || kind == kDeviceToDeviceNoCU;
  if (kind == kHostToDevice || within) require_device(to, bytes, "destination");
  if (kind == kDeviceToHost || within) require_device(from, bytes, "source");
  if (kind != kDefaultKind) return;
  // Of the two, those that begin in an allocation are the device's.
  if (state().memory().find(to).bytes > 0) require_device(to, bytes, "destination");
  if (state().memory().find(from).bytes > 0) require_device(from, bytes, "source");
}

void copy_now(void* to, const void* from, size_t bytes, int kind) {
  check_copy(to, from, bytes, kind);
  std::memmove(to, from, bytes);
}

}  // namespace radiance::emulator::hip
