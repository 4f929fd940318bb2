// How many clocks an LDS access loses to bank conflicts.
//
// Documented: LDS is banked by dwords; lanes that read the same dword share it. Measured (traces of
// the card): 128 bytes a clock a compute unit, so a wave32 takes 1, 2 and 4 clocks for b32, b64 and
// b128, and rows at an odd multiple of the access width are free of conflicts. Assumed from this: a
// compute unit sees 32 banks of 4 bytes, and lanes are served in their order, as many at a time as
// 128 bytes hold (32, 16 and 8; 8 for b96). A group then takes as many clocks as the busiest bank
// has distinct dwords.
#pragma once

#include <cstdint>

#include "emulator/lanes.hpp"

namespace radiance::emulator {

constexpr uint32_t kLdsBanks = 32;

// Clocks beyond those the same lanes would take without conflict. Byte addresses in LDS.
uint32_t lds_conflict_cycles(const Lanes& address, uint32_t active, int bytes);

}  // namespace radiance::emulator
