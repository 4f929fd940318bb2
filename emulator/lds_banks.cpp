#include "emulator/lds_banks.hpp"

#include <algorithm>
#include <bit>
#include <cstring>

namespace radiance::emulator {
namespace {

// The busiest bank's distinct words among lanes [first, first + count), less one. A word is a
// dword, or the whole access where all lanes' are aligned to it: then words meet in all of their
// banks or in none.
uint32_t group_conflicts(const Lanes& address, uint32_t active, int first, int count,
                         uint32_t bytes, uint32_t word) {
  const uint32_t places = 4 * kLdsBanks / word;
  uint32_t words[kLdsBanks][kLanes];
  uint8_t used[kLdsBanks] = {};
  uint32_t busiest = 1;
  for (int lane = first; lane < first + count; ++lane) {
    if (!(active >> lane & 1)) continue;
    const uint32_t end = (address[lane] + bytes + word - 1) / word;
    for (uint32_t w = address[lane] / word; w < end; ++w) {
      const uint32_t place = w % places;
      const uint32_t n = used[place];
      if (std::find(words[place], words[place] + n, w) != words[place] + n) continue;
      words[place][n] = w;  // a lane has at most one word of a place
      used[place] = static_cast<uint8_t>(n + 1);
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

template <int kBytes>
uint32_t conflicts(const Lanes& address, uint32_t active, uint32_t bytes) {
  if (active == kAllLanes && bytes == kBytes && conflict_free<kBytes>(address)) return 0;
  uint32_t low_bits = bytes;
  for (int i = 0; i < kLanes; ++i) low_bits |= address.v[i];
  const bool aligned = low_bits % kBytes == 0;
  constexpr int group = 128 / kBytes;
  uint32_t cycles = 0;
  for (int first = 0; first < kLanes; first += group) {
    cycles += group_conflicts(address, active, first, group, bytes, aligned ? kBytes : 4);
  }
  return cycles;
}

}  // namespace

uint32_t lds_conflict_cycles(const Lanes& address, uint32_t active, int bytes) {
  const auto size = static_cast<uint32_t>(bytes);
  if (bytes <= 4) return conflicts<4>(address, active, size);
  if (bytes == 8) return conflicts<8>(address, active, size);
  return conflicts<16>(address, active, size);
}

}  // namespace radiance::emulator
