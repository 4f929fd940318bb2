// One workgroup: its LDS, its waves, their barrier, and the order in which they run.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "emulator/memory.hpp"
#include "emulator/wave.hpp"

namespace radiance::emulator {

constexpr uint32_t kMaxLdsBytes = 64 * 1024;
constexpr uint32_t kMaxWaves = 32;  // 1024 work items

// LDS and what strict mode knows about it. The shadow is made and kept by the LDS family (ds.cpp);
// it is opaque here, and freed with the workgroup's slot.
struct LdsShadow;
struct LdsShadowDeleter {
  void operator()(LdsShadow* shadow) const;
};
// Likewise for the races of one workgroup on global memory (global.cpp).
struct GlobalShadow;
struct GlobalShadowDeleter {
  void operator()(GlobalShadow* shadow) const;
};

class Workgroup {
 public:
  std::vector<uint8_t>
      lds;                 // kMaxLdsBytes + slack for vector loads; only lds_bytes may be accessed
  uint32_t lds_bytes = 0;  // static and dynamic
  std::unique_ptr<LdsShadow, LdsShadowDeleter> lds_shadow;
  std::unique_ptr<GlobalShadow, GlobalShadowDeleter> global_shadow;
  std::vector<std::unique_ptr<Wave>> waves;  // the first wave_count are in use
  uint32_t wave_count = 0;
  std::array<uint32_t, 3> id{};
  bool strict = false;
  bool flush_fp8 = false;  // LaunchOptions
  uint64_t serial = 0;  // differs for every workgroup this slot ever ran: shadows reset on a change

  // --- Barrier -1
  // --------------------------------------------------------------------------------- A barrier is
  // complete once every wave that has not ended has signalled it. barriers_done counts the complete
  // ones; a wave waits until barriers_done reaches its own barrier_phase.
  uint32_t barriers_done = 0;
  // True for the first wave to signal (s_barrier_signal_isfirst).
  bool signal(Wave& wave);
  bool passed(const Wave& wave) const { return barriers_done >= wave.barrier_phase; }
  void wave_ended(Wave& wave);

  // --- What waves know of each other (strict)
  // -------------------------------------------------------- Up to which operation of `counter`
  // wave `other` had completed (waited for) when it signalled the last barrier that `wave` has
  // waited for. An access of `other` with a later number is concurrent with what `wave` does now: a
  // race, where one of them writes. Of its own operations a wave knows `completed`.
  Sequence known(const Wave& wave, uint32_t other, Counter counter) const {
    return at_barrier_[wave.barrier_passed & 1][other][static_cast<size_t>(counter)];
  }

  // Runs all waves to their end. With a seed, waves are switched at random points (the same for the
  // same seed); without, each runs up to its next barrier. Throws Fault, with last_wave telling
  // which.
  void run(std::optional<uint64_t> seed);
  const Wave* last_wave = nullptr;

  void reset(uint32_t waves_in_use);

 private:
  void check_barrier_complete();
  void run_slice(Wave& wave, uint64_t instructions);

  std::array<std::array<std::array<Sequence, kCounters>, kMaxWaves>, 2> at_barrier_{};
};

// Runs up to `instructions` instructions of one wave, or until it ends or waits.
void interpret(Wave& wave, uint64_t instructions);

}  // namespace radiance::emulator
