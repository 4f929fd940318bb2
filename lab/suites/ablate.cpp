#include <set>

#include "lab/gate_case.hpp"
#include "lab/suites/suites.hpp"
#include "radiance/error.hpp"

namespace radiance::lab {

namespace {

// A ragged last tile, four slabs; a block of rows, then within four, three, two and one tile
// of them, and what is for few rows alone: a variant runs with the first of them that it takes.
constexpr int64_t kFeatures = 136, kDepth = 512;
constexpr int64_t kRows[] = {256, 61, 45, 29, 13, 3, 2, 1};

// Its values may be wrong: it must come to its end, write every element and nothing else, and do so
// twice alike.
CaseResult run_wrong(const DeviceWeight& weight, const Problem& problem,
                     const Variation& variation) {
  CaseResult result = case_of(problem, variation, variation.config_prefix);
  try {
    const Launch launched = launch(weight, problem, variation);
    result.reason = launched.failure.empty() ? check_written(launched.layout, launched.image)
                                             : launched.failure;
    result.note = "its values are not meant to be right";
  } catch (const Error& error) {
    result.reason = error.what();
  }
  if (!result.reason.empty()) result.status = Status::kFailed;
  return result;
}

}  // namespace

void run_ablate_suite(Gate& gate) {
  Random random = gate.random("ablate");
  HostWeight weight = random_int4_weight(random, kFeatures, kDepth, 128);
  HostRows rows = random_rows(random, RADIANCE_BF16, kRows[0], kDepth);
  const Problem problem(random, std::move(weight), std::move(rows));
  const DeviceWeight device_weight(gate.engine(), problem.weight);
  std::set<std::string> done;
  for (const int64_t m : kRows) {
    for (const Ablation& ablation : gate.engine().backend().ablations(problem.weight.shape, m)) {
      if (!done.insert(ablation.config).second) continue;
      Variation variation;
      variation.suite = "ablate";
      variation.name = ablation.what;
      variation.m = m;
      variation.config_prefix = ablation.config;
      gate.add(ablation.right ? run_case(device_weight, problem, variation)
                              : run_wrong(device_weight, problem, variation));
    }
  }
  if (!done.empty()) return;
  CaseResult none;
  none.suite = "ablate";
  none.name = "variants that leave something out";
  none.status = Status::kSkipped;
  none.reason = std::string("target ") + gate.engine().backend().target() + " has none";
  gate.add(std::move(none));
}

}  // namespace radiance::lab
