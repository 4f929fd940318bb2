// The operations of a workgroup's waves on one memory, in the order in which the emulator ran them,
// and which of them another wave may rely on. The race detectors of LDS and global memory stand on
// it.
//
// Every instruction gets a stamp, 1, 2, ...; shadows keep stamps. An operation of another wave is
// known to a wave once it was waited for by its own wave before that signalled a barrier which this
// one has waited for (Workgroup::known); what is not known is concurrent. As each wave's operations
// complete in order, the first one that is not known bounds the rest: a stamp below the horizon
// needs no further look.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "emulator/workgroup.hpp"

namespace radiance::emulator {

using Stamp = uint32_t;

class AccessLog {
 public:
  void clear();

  // Notes that `wave` runs operation `sequence` of `counter`, and returns its stamp.
  Stamp record(const Wave& wave, Counter counter, Sequence sequence, AccessKind kind);

  // No operation of another wave below it is unknown to `wave`.
  Stamp horizon(const Wave& wave) {
    Horizon& last = horizons_[wave.index];
    // Neither another wave's operations nor what this one knows of them has changed.
    if (last.turn == turn_ && last.phase == wave.barrier_passed) return last.stamp;
    last = {find_horizon(wave), wave.barrier_passed, turn_};
    return last.stamp;
  }

  // Whether the operation happened before what `wave` does now; its own always did.
  bool known(const Wave& wave, Stamp stamp) const {
    const Operation& operation = operations_[stamp];
    return operation.wave == wave.index ||
           operation.sequence <= wave.group->known(wave, operation.wave, operation.counter);
  }

  uint32_t wave_of(Stamp stamp) const { return operations_[stamp].wave; }
  bool atomic(Stamp stamp) const { return operations_[stamp].atomic; }
  // The wave's first operation since it last signalled a barrier.
  Stamp phase_start(const Wave& wave) const { return phase_start_[wave.index]; }

 private:
  struct Operation {
    Sequence sequence = 0;
    uint8_t wave = 0;
    Counter counter = Counter::kLoad;
    bool atomic = false;
  };
  static constexpr Counter kTracked[] = {Counter::kLoad, Counter::kStore, Counter::kDs};
  static constexpr size_t kTrackedCounters = 3;
  static size_t tracked(Counter counter) {
    return counter == Counter::kLoad ? 0 : counter == Counter::kStore ? 1 : 2;
  }

  Stamp find_horizon(const Wave& wave) const;

  struct Horizon {
    Stamp stamp = 0;
    uint32_t phase = ~0u;
    uint64_t turn = 0;
  };
  std::array<Horizon, kMaxWaves> horizons_{};
  uint64_t turn_ = 0;  // changes whenever another wave than the last runs an operation
  uint32_t last_wave_ = ~0u;

  std::vector<Operation> operations_;  // by stamp; the first is none
  // By wave, counter and sequence: the stamp of that operation, or of the next that is here.
  std::array<std::array<std::vector<Stamp>, kTrackedCounters>, kMaxWaves> stamps_;
  std::array<uint32_t, kMaxWaves> phase_{};
  std::array<Stamp, kMaxWaves> phase_start_{};
};

// A dword's bytes [first, first + count) as a mask.
constexpr uint32_t byte_mask(uint32_t first, uint32_t count) {
  return ((1u << count) - 1) << first;
}

}  // namespace radiance::emulator
