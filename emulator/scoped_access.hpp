// Loads and stores that other workgroups may watch: a wave that spins on a flag, a flag that is
// set.
//
// Workgroups run on different host threads. An access with device or system scope of a dword or two
// is made atomic, with acquire or release, so that plain accesses around it are ordered as the
// ISA's scopes promise; others are plain copies, and races between them are the kernel's.
#pragma once

#include <atomic>

#include "emulator/instruction.hpp"
#include "emulator/lane_transfer.hpp"

namespace radiance::emulator {

template <class T, class Function>
void for_scoped_lanes(const LaneAddresses& at, uint32_t active, Function function) {
  for (uint32_t left = active; left != 0; left &= left - 1) {
    const int i = __builtin_ctz(left);
    function(std::atomic_ref<T>(*reinterpret_cast<T*>(at.at[i])), i);
  }
}

template <class T>
bool all_aligned(const LaneAddresses& at, uint32_t active) {
  for (uint32_t left = active; left != 0; left &= left - 1) {
    if (at.at[__builtin_ctz(left)] % sizeof(T) != 0) return false;
  }
  return true;
}

template <LaneForm F>
void load_scoped(Lanes* d, const LaneAddresses& from, uint32_t active, Scope scope) {
  if constexpr (F.bytes == 4 || F.bytes == 8) {
    using T = std::conditional_t<F.bytes == 4, uint32_t, uint64_t>;
    if (scope >= Scope::kDevice && all_aligned<T>(from, active)) {
      for_scoped_lanes<T>(from, active, [&](std::atomic_ref<T> memory, int i) {
        const T value = memory.load(std::memory_order_acquire);
        d[0][i] = static_cast<uint32_t>(value);
        if constexpr (F.bytes == 8) d[1][i] = static_cast<uint32_t>(value >> 32);
      });
      return;
    }
  }
  load_lanes<F>(d, from, active);
}

template <LaneForm F>
void store_scoped(const Lanes* s, const LaneAddresses& to, uint32_t active, Scope scope) {
  if constexpr (F.bytes == 4 || F.bytes == 8) {
    using T = std::conditional_t<F.bytes == 4, uint32_t, uint64_t>;
    if (scope >= Scope::kDevice && all_aligned<T>(to, active)) {
      for_scoped_lanes<T>(to, active, [&](std::atomic_ref<T> memory, int i) {
        T value = s[0][i];
        if constexpr (F.bytes == 8) value |= static_cast<T>(s[1][i]) << 32;
        memory.store(value, std::memory_order_release);
      });
      return;
    }
  }
  store_lanes<F>(s, to, active);
}

}  // namespace radiance::emulator
