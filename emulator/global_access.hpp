// Lane addresses in global memory, checked: what every global and flat instruction starts with.
#pragma once

#include <cstdint>

#include "emulator/global_shadow.hpp"
#include "emulator/lane_transfer.hpp"
#include "emulator/workgroup.hpp"

namespace radiance::emulator {

// vaddr + offset, with 64-bit addresses in a VGPR pair; or saddr + vaddr + offset, with a 64-bit
// scalar base and an unsigned 32-bit offset a lane. The instruction's offset is signed, 24 bits.
void global_addresses(const Instruction& in, const Wave& wave, const Operand& address,
                      const Operand& base, LaneAddresses& out);

// Faults, strict or not, where a lane's bytes are not wholly in one live allocation or an atomic is
// not naturally aligned; in strict mode also where an access is not aligned to its size or to a
// dword, or races. Counts bytes and cache lines.
void check_global(const LaneAddresses& at, uint32_t lanes, const GlobalAccess& access, Wave& wave);

}  // namespace radiance::emulator
