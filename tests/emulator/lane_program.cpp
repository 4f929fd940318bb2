#include "tests/emulator/lane_program.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

namespace radiance::emulator::testing {

LaneResults run(const LaneProgram& program) {
  Memory memory;
  const size_t in_bytes = std::max<size_t>(program.inputs.size(), 1) * sizeof(Lanes);
  void* in = memory.allocate(in_bytes);
  void* out = memory.allocate(program.results * sizeof(Lanes));
  void* data = memory.allocate(program.memory.size() * 4);
  std::copy(program.inputs.begin(), program.inputs.end(), static_cast<Lanes*>(in));
  std::copy(program.memory.begin(), program.memory.end(), static_cast<uint32_t*>(data));

  std::string text = R"(s_load_b128 s[4:7], s[0:1], 0x0
s_load_b64 s[8:9], s[0:1], 0x10
v_and_b32 v0, 0x3ff, v0
v_lshlrev_b32 v1, 2, v0
s_wait_kmcnt 0x0
)";
  for (unsigned r = 0; r < program.inputs.size(); ++r) {
    text += fmt::format("global_load_b32 v{}, v1, s[4:5] offset:{}\n", 8 + r, 128 * r);
  }
  // Results that the program leaves alone are known.
  for (unsigned r = 0; r < program.results; ++r)
    text += fmt::format("v_mov_b32 v{}, 0x5eed\n", 40 + r);
  text += "s_wait_loadcnt 0x0\n" + program.body + R"(
s_mov_b32 exec_lo, -1
s_wait_loadcnt 0x0
s_wait_storecnt 0x0
s_wait_dscnt 0x0
)";
  for (unsigned r = 0; r < program.results; ++r) {
    text += fmt::format("global_store_b32 v1, v{}, s[6:7] offset:{}\n", 40 + r, 128 * r);
  }

  LaunchOptions options;
  options.strict = program.strict;
  options.flush_fp8 = program.flush_fp8;
  options.threads = 1;
  void* const arguments[] = {in, out, data};
  const LaunchResult result = run(memory, {text, program.lds_bytes, program.scratch_bytes},
                                  arguments, {1, 1, 1}, {32, 1, 1}, options);
  LaneResults results;
  results.error = result.error;
  results.counters = result.counters;
  results.v.resize(program.results);
  std::memcpy(results.v.data(), out, program.results * sizeof(Lanes));
  results.memory.resize(program.memory.size());
  std::memcpy(results.memory.data(), data, program.memory.size() * 4);
  return results;
}

}  // namespace radiance::emulator::testing
