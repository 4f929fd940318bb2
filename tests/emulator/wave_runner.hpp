// Runs a straight piece of machine code in the waves of one workgroup, without a code object.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "emulator/program.hpp"
#include "emulator/workgroup.hpp"

namespace radiance::emulator {

class WaveRunner {
 public:
  // Waves of `lanes` lanes together, all registers zero but v255, which is the lane's number in the
  // group.
  WaveRunner(uint32_t lanes, bool strict) : view_(std::make_shared<AllocationList>()) {
    const uint32_t waves = (lanes + kLanes - 1) / kLanes;
    group_.lds.resize(kMaxLdsBytes + 64);
    group_.lds_bytes = kMaxLdsBytes;
    group_.strict = strict;
    for (uint32_t i = 0; i < waves; ++i) {
      auto wave = std::make_unique<Wave>();
      std::fill(std::begin(wave->sgpr), std::end(wave->sgpr), 0u);
      for (Lanes& reg : wave->vgpr) reg = {};
      for (uint32_t lane = 0; lane < kLanes; ++lane) wave->vgpr[255].v[lane] = i * kLanes + lane;
      const uint32_t active = std::min(lanes - i * kLanes, uint32_t{kLanes});
      wave->set_exec(active == kLanes ? kAllLanes : (1u << active) - 1);
      wave->group = &group_;
      wave->memory = &view_;
      wave->counters = &counters_;
      wave->index = i;
      if (strict) {
        wave->strict = std::make_unique<StrictState>();
        wave->strict->reset();
        wave->strict->mark_vgprs(0, kVectorRegisters, kAllLanes);
        wave->strict->mark_sgprs(0, kScalarRegisters);
      }
      group_.waves.push_back(std::move(wave));
    }
    group_.reset(waves);
  }

  Wave& wave(uint32_t index = 0) { return *group_.waves[index]; }
  Counters& counters() { return counters_; }

  // Runs to the end of the code; throws Fault.
  void run(std::span<const uint8_t> code) {
    program_ = std::make_unique<Program>(code, 0x1000, std::vector<uint64_t>{}, PastEnd::kEnds);
    for (uint32_t i = 0; i < group_.wave_count; ++i) {
      Wave& wave = *group_.waves[i];
      wave.program = program_.get();
      wave.next = program_->find(0x1000);
      wave.state = RunState::kRunning;
    }
    group_.run(std::nullopt);
  }

 private:
  MemoryView view_;
  Counters counters_;
  Workgroup group_;
  std::unique_ptr<Program> program_;
};

}  // namespace radiance::emulator
