#include "emulator/lds_banks.hpp"

#include <algorithm>
#include <bit>
#include <cstring>

namespace radiance::emulator {
namespace {

// The busiest bank's distinct dwords among lanes [first, first + count), less one.
uint32_t group_conflicts(const Lanes& address, uint32_t active, int first, int count, int bytes) {
  uint32_t dwords[kLdsBanks][kLanes];
  uint8_t used[kLdsBanks] = {};
  uint32_t busiest = 1;
  for (int lane = first; lane < first + count; ++lane) {
    if (!(active >> lane & 1)) continue;
    const uint32_t begin = address[lane] / 4, end = (address[lane] + bytes + 3) / 4;
    for (uint32_t d = begin; d < end; ++d) {
      const uint32_t bank = d % kLdsBanks;
      const uint32_t n = used[bank];
      if (std::find(dwords[bank], dwords[bank] + n, d) != dwords[bank] + n) continue;
      // A lane that straddles dwords or wide accesses of many lanes still fit: one dword a lane and
      // bank.
      dwords[bank][n] = d;
      used[bank] = static_cast<uint8_t>(n + 1);
      busiest = std::max(busiest, n + 1);
    }
  }
  return busiest - 1;
}

// Aligned accesses of all lanes in which no two of a group meet in a bank: nearly all there are.
template <int kBytes>
bool conflict_free(const Lanes& address) {
  constexpr int group = 128 / kBytes;  // lanes, and places of kBytes in a row of banks
  uint32_t low_bits = 0;
  bool free = true;
  for (int first = 0; first < kLanes; first += group) {
    uint32_t places = 0;
    for (int i = first; i < first + group; ++i) {
      low_bits |= address[i];
      places |= 1u << (address[i] / kBytes % group);
    }
    free &= std::popcount(places) == group;
  }
  return free && low_bits % kBytes == 0;
}

}  // namespace

uint32_t lds_conflict_cycles(const Lanes& address, uint32_t active, int bytes) {
  if (active == kAllLanes) {
    if (bytes == 4 && conflict_free<4>(address)) return 0;
    if (bytes == 8 && conflict_free<8>(address)) return 0;
    if (bytes == 16 && conflict_free<16>(address)) return 0;
  }
  const int group = bytes <= 4 ? 32 : bytes == 8 ? 16 : 8;
  uint32_t cycles = 0;
  for (int first = 0; first < kLanes; first += group) {
    cycles += group_conflicts(address, active, first, group, bytes);
  }
  return cycles;
}

}  // namespace radiance::emulator
