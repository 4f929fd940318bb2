#include <fmt/format.h>

#include "lab/perm_map.hpp"
#include "lab/suites/suites.hpp"

namespace radiance::lab {

// Selectors 0..7 are what the kernels rest on, the others what the instruction set's manual says.
void run_perm_suite(Gate& gate) {
  HardwareProbes* const probes = gate.engine().backend().hardware_probes();
  if (probes == nullptr) {
    CaseResult result;
    result.suite = "perm";
    result.name = "v_perm_b32 selectors";
    result.status = Status::kSkipped;
    result.reason = "a probe of gfx1201, and this device is " + gate.engine().device().info().arch;
    gate.add(std::move(result));
    return;
  }
  Random random = gate.random("perm");
  const PermMap map = probe_perm(*probes, random);
  const auto add = [&](const char* name, int first, int last) {
    CaseResult result;
    result.suite = "perm";
    result.name = name;
    for (int selector = first; selector <= last; ++selector) {
      const PermMeaning& got = map.meaning[static_cast<size_t>(selector)];
      const PermMeaning want = documented_perm(selector);
      if (got == want) continue;
      result.status = Status::kFailed;
      result.reason =
          fmt::format("selector {} gives {}, not {}", selector, describe(got), describe(want));
      break;
    }
    gate.add(std::move(result));
  };
  add("v_perm_b32 selectors 0..7", 0, 7);
  add("v_perm_b32 selectors 8..255", 8, 255);
  CaseResult words;
  words.suite = "perm";
  words.name = "v_perm_b32 4096 random words";
  if (map.wrong_words > 0) {
    words.status = Status::kFailed;
    words.reason = fmt::format("{} of 4096 differ from the selectors' map", map.wrong_words);
  }
  gate.add(std::move(words));
}

}  // namespace radiance::lab
