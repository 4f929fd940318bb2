// Lane addresses in LDS, checked: what every ds_ instruction starts with.
#pragma once

#include <cstdint>

#include "emulator/lane_transfer.hpp"
#include "emulator/lds_shadow.hpp"
#include "emulator/workgroup.hpp"

namespace radiance::emulator {

// One access of an instruction: two of them for ds_*_2addr.
struct LdsRequest {
  AccessKind kind;
  uint32_t bytes;      // a lane
  uint32_t offset;     // added to the lane's address
  uint32_t alignment;  // what strict mode asks of the address
};

// Host addresses of `lanes`' accesses to LDS at `address` + offset. Returns the lanes that are
// within the workgroup's LDS; the others' loads read zero (their address is that of zeros), their
// stores are dropped. Counts bytes and bank conflicts. `sequence` numbers the operation in strict
// mode, where an access out of bounds, misaligned, racing or of unwritten bytes is a fault.
uint32_t lds_lanes(const Lanes& address, uint32_t lanes, const LdsRequest& request, Wave& wave,
                   Sequence sequence, LaneAddresses& out);

}  // namespace radiance::emulator
