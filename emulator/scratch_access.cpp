#include "emulator/scratch_access.hpp"

#include <fmt/format.h>

namespace radiance::emulator {

void scratch_lanes(const Lanes& offset, uint32_t lanes, AccessKind kind, uint32_t bytes,
                   const Wave& wave, LaneAddresses& out) {
  const uint64_t size = wave.scratch_bytes;
  for (uint32_t left = lanes; left != 0; left &= left - 1) {
    const int i = __builtin_ctz(left);
    if (static_cast<uint64_t>(offset[i]) + bytes > size) {
      fault(fmt::format("lane {} {} {} bytes at {:#x} of scratch, of which a lane has {} bytes", i,
                        kind == AccessKind::kRead ? "loads" : "stores", bytes, offset[i], size));
    }
    out.at[i] =
        reinterpret_cast<uint64_t>(wave.scratch) + static_cast<uint64_t>(i) * size + offset[i];
  }
}

}  // namespace radiance::emulator
