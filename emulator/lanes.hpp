// 32 lanes of one 32-bit register: the unit every vector handler works on.
#pragma once

#include <cstdint>

namespace radiance::emulator {

constexpr int kLanes = 32;
constexpr uint32_t kAllLanes = ~0u;

// Plain array, so that `for (int i = 0; i < kLanes; ++i)` loops vectorise.
struct alignas(64) Lanes {
  uint32_t v[kLanes];
  uint32_t& operator[](int lane) { return v[lane]; }
  uint32_t operator[](int lane) const { return v[lane]; }
};

// 1 << lane, from a table: a loop that collects lane masks vectorises with it.
struct LaneBits {
  uint32_t bit[kLanes];
  constexpr LaneBits() : bit() {
    for (int i = 0; i < kLanes; ++i) bit[i] = 1u << i;
  }
};
inline constexpr LaneBits kLaneBits;
inline uint32_t lane_bit(int lane) { return kLaneBits.bit[lane]; }

// All ones in the lanes whose bit is set, else zero.
inline void expand_mask(uint32_t mask, Lanes& out) {
  for (int i = 0; i < kLanes; ++i) out.v[i] = 0u - (mask >> i & 1u);
}

}  // namespace radiance::emulator
