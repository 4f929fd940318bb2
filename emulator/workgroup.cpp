#include "emulator/workgroup.hpp"

#include <fmt/format.h>

#include <cstring>
#include <random>

#include "emulator/handlers.hpp"
#include "emulator/vector_operands.hpp"

namespace radiance::emulator {
namespace {

// In order of the waves, a wave that spins on LDS must not keep the others from running for ever.
constexpr uint64_t kSlice = 1 << 20;
// With random switches, up to so many instructions between two.
constexpr uint64_t kMaxRandomSlice = 64;

// The host rounds as MODE says while a wave runs.
class HostRounding {
 public:
  explicit HostRounding(const Wave& wave) { Rounding64::set(wave.mode.round32()); }
  ~HostRounding() { Rounding64::set(0); }
  HostRounding(const HostRounding&) = delete;
  HostRounding& operator=(const HostRounding&) = delete;
};

void step_strict(const Instruction& in, Wave& wave) {
  if (in.strict_checks == StrictChecks::kNone) {
    in.execute(in, wave);
  } else if (in.strict_checks == StrictChecks::kOperands) {
    StrictState& state = *wave.strict;
    const uint32_t lanes = in.ignores_exec ? kAllLanes : wave.exec();
    check_plain_operands(in, state, lanes);
    in.execute(in, wave);
    mark_plain_results(in, state, lanes);
  } else {
    check_operands(in, wave);
    const uint32_t exec = wave.exec();
    in.execute(in, wave);
    mark_results(in, wave, exec);
  }
}

}  // namespace

void interpret(Wave& wave, uint64_t instructions) {
  const HostRounding rounding(wave);
  const Instruction* in = wave.next;
  Counters& counters = *wave.counters;
  const uint64_t left = wave.budget > wave.instructions ? wave.budget - wave.instructions : 0;
  const uint64_t limit = std::min(instructions, left);
  uint64_t done = 0;
  try {
    if (wave.strict) {
      while (done < limit && wave.state == RunState::kRunning) {
        in = wave.next;
        wave.next = in + 1;
        ++done;
        ++counters.instructions[in->opclass];
        step_strict(*in, wave);
      }
    } else {
      while (done < limit && wave.state == RunState::kRunning) {
        in = wave.next;
        wave.next = in + 1;
        ++done;
        ++counters.instructions[in->opclass];
        in->execute(*in, wave);
      }
    }
  } catch (const Fault&) {
    wave.current = in;
    throw;
  }
  wave.instructions += done;
  if (wave.instructions >= wave.budget && wave.state == RunState::kRunning) {
    wave.current = wave.next;
    fault(fmt::format("an endless loop: {} instructions executed, the budget of one wave",
                      wave.instructions));
  }
}

bool Workgroup::signal(Wave& wave) {
  if (strict && wave.barrier_phase > wave.barrier_passed) {
    fault("the wave signals the barrier twice without waiting for it");
  }
  // The hardware counts a second signal as another wave's; no compiler emits it.
  if (wave.barrier_phase > barriers_done) return false;
  bool first = true;
  for (uint32_t i = 0; i < wave_count; ++i) {
    if (waves[i]->state != RunState::kEnded && waves[i]->barrier_phase > barriers_done) {
      first = false;
    }
  }
  ++wave.barrier_phase;
  if (wave.strict) at_barrier_[wave.barrier_phase & 1][wave.index] = wave.strict->completed;
  check_barrier_complete();
  return first;
}

void Workgroup::check_barrier_complete() {
  bool any = false;
  for (uint32_t i = 0; i < wave_count; ++i) {
    const Wave& wave = *waves[i];
    if (wave.state == RunState::kEnded) continue;
    if (wave.barrier_phase == barriers_done) return;
    any = true;
  }
  if (!any) return;
  ++barriers_done;
  if (!strict) return;
  // A wave that has ended is before this barrier with all it did. Its end alone orders nothing.
  for (uint32_t i = 0; i < wave_count; ++i) {
    if (waves[i]->state == RunState::kEnded) {
      at_barrier_[barriers_done & 1][i] = waves[i]->strict->issued;
    }
  }
}

void Workgroup::wave_ended(Wave& wave) {
  wave.state = RunState::kEnded;
  if (strict) {
    // The hardware takes an ended wave out of the count, so a kernel in which some waves skip a
    // barrier runs; it is undefined in every language that compiles to it.
    for (uint32_t i = 0; i < wave_count; ++i) {
      const Wave& other = *waves[i];
      if (other.barrier_phase > wave.barrier_phase && other.state != RunState::kEnded) {
        fault(fmt::format("wave {} ends without taking part in barrier {}, for which wave {} waits",
                          wave.index, wave.barrier_phase + 1, i));
      }
    }
    if (wave.barrier_phase > wave.barrier_passed) {
      fault(fmt::format("wave {} ends after it signalled barrier {} and did not wait for it",
                        wave.index, wave.barrier_phase));
    }
  }
  check_barrier_complete();
}

void Workgroup::run_slice(Wave& wave, uint64_t instructions) {
  last_wave = &wave;
  if (wave.state == RunState::kAtBarrier) wave.state = RunState::kRunning;
  interpret(wave, instructions);
}

void Workgroup::run(std::optional<uint64_t> seed) {
  std::minstd_rand random(static_cast<uint32_t>(seed.value_or(0) * 2654435761u + 1));
  std::array<uint32_t, kMaxWaves> ready;
  while (true) {
    uint32_t count = 0;
    uint32_t ended = 0;
    for (uint32_t i = 0; i < wave_count; ++i) {
      const Wave& wave = *waves[i];
      if (wave.state == RunState::kEnded) {
        ++ended;
      } else if (wave.state == RunState::kRunning || passed(wave)) {
        ready[count++] = i;
      }
    }
    if (ended == wave_count) return;
    if (count == 0) {
      // Every wave waits and the barrier cannot complete: only a wait without a signal does that.
      last_wave = waves[0].get();
      fault("all waves of the workgroup wait at a barrier that none of them will complete");
    }
    if (seed) {
      run_slice(*waves[ready[random() % count]], 1 + random() % kMaxRandomSlice);
    } else {
      for (uint32_t i = 0; i < count; ++i) run_slice(*waves[ready[i]], kSlice);
    }
  }
}

void Workgroup::reset(uint32_t waves_in_use) {
  wave_count = waves_in_use;
  barriers_done = 0;
  last_wave = nullptr;
  ++serial;
  for (auto& side : at_barrier_) {
    for (uint32_t i = 0; i < waves_in_use; ++i) side[i] = {};
  }
}

}  // namespace radiance::emulator
