// Lane addresses in scratch: each lane's private memory, addressed by byte offset. The hardware
// interleaves the lanes in memory; no program can see it.
#pragma once

#include "emulator/lane_transfer.hpp"
#include "emulator/memory.hpp"
#include "emulator/wave.hpp"

namespace radiance::emulator {

// Host addresses of the lanes' bytes at their offsets; faults where one is beyond its lane's
// scratch.
void scratch_lanes(const Lanes& offset, uint32_t lanes, AccessKind kind, uint32_t bytes,
                   const Wave& wave, LaneAddresses& out);

}  // namespace radiance::emulator
