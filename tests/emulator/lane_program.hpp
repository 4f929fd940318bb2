// One wave that runs a few instructions on given registers: the tests of single instructions.
#pragma once

#include <array>
#include <string>
#include <vector>

#include "emulator/lanes.hpp"
#include "tests/emulator/kernel_runner.hpp"

namespace radiance::emulator::testing {

struct LaneProgram {
  // v8, v9, ... hold `inputs`; v0 the lane, v1 the lane times 4; s[8:9] the address of `memory`.
  std::string body;
  std::vector<Lanes> inputs;
  std::vector<uint32_t> memory = std::vector<uint32_t>(1024);
  unsigned lds_bytes = 4096;
  unsigned scratch_bytes = 0;
  unsigned results = 1;  // v40, v41, ...
  bool strict = false;
  bool flush_fp8 = false;
};

struct LaneResults {
  std::string error;
  std::vector<Lanes> v;
  std::vector<uint32_t> memory;
  Counters counters;
};

LaneResults run(const LaneProgram& program);

template <class Function>
Lanes make_lanes(Function function) {
  Lanes out;
  for (int i = 0; i < kLanes; ++i) out[i] = static_cast<uint32_t>(function(i));
  return out;
}

}  // namespace radiance::emulator::testing
