// The lane loop of atomics on memory that other host threads may touch at the same time.
#pragma once

#include <atomic>
#include <cstdint>

#include "emulator/atomic_operations.hpp"
#include "emulator/lane_transfer.hpp"

namespace radiance::emulator {

// `data`: the registers of the operand (for two operands the data first, the compare value behind
// it, as GLOBAL_ATOMIC_CMPSWAP has them); `result`: where the old values go, or null.
template <class Operation, class T>
void update_lanes(const LaneAddresses& at, uint32_t active, const Lanes* data, Lanes* result) {
  constexpr int kWords = sizeof(T) / 4;
  const auto operand = [&](int which, int lane) {
    T value = data[which * kWords][lane];
    if constexpr (kWords == 2) value |= static_cast<T>(data[which * kWords + 1][lane]) << 32;
    return value;
  };
  for (uint32_t left = active; left != 0; left &= left - 1) {
    const int i = __builtin_ctz(left);
    const T value = operand(0, i);
    const T second = Operation::kOperands == 2 ? operand(1, i) : T{0};
    const std::atomic_ref<T> memory(*reinterpret_cast<T*>(at.at[i]));
    T old = memory.load(std::memory_order_relaxed);
    while (!memory.compare_exchange_weak(old, Operation::apply(old, value, second),
                                         std::memory_order_acq_rel, std::memory_order_relaxed)) {
    }
    if (result) {
      result[0][i] = static_cast<uint32_t>(old);
      if constexpr (kWords == 2) result[1][i] = static_cast<uint32_t>(old >> 32);
    }
  }
}

}  // namespace radiance::emulator
