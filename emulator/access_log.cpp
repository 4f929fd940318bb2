#include "emulator/access_log.hpp"

#include <algorithm>

namespace radiance::emulator {

void AccessLog::clear() {
  operations_.assign(1, {});
  for (auto& of_wave : stamps_) {
    for (auto& of_counter : of_wave) of_counter.clear();
  }
  phase_.fill(~0u);
  phase_start_.fill(0);
  horizons_.fill({});
  turn_ = 1;
  last_wave_ = ~0u;
}

Stamp AccessLog::record(const Wave& wave, Counter counter, Sequence sequence, AccessKind kind) {
  if (last_wave_ != wave.index) {
    last_wave_ = wave.index;
    ++turn_;
  }
  const auto stamp = static_cast<Stamp>(operations_.size());
  operations_.push_back(
      {sequence, static_cast<uint8_t>(wave.index), counter, kind == AccessKind::kAtomic});
  auto& stamps = stamps_[wave.index][tracked(counter)];
  if (stamps.size() <= sequence) stamps.resize(sequence + size_t{1}, stamp);
  if (phase_[wave.index] != wave.barrier_phase) {
    phase_[wave.index] = wave.barrier_phase;
    phase_start_[wave.index] = stamp;
  }
  return stamp;
}

Stamp AccessLog::find_horizon(const Wave& wave) const {
  Stamp lowest = ~Stamp{0};
  for (uint32_t other = 0; other < wave.group->wave_count; ++other) {
    if (other == wave.index) continue;
    for (size_t c = 0; c < kTrackedCounters; ++c) {
      const auto& stamps = stamps_[other][c];
      if (stamps.empty()) continue;
      const size_t next = wave.group->known(wave, other, kTracked[c]) + size_t{1};
      if (next < stamps.size()) lowest = std::min(lowest, stamps[next]);
    }
  }
  return lowest;
}

}  // namespace radiance::emulator
