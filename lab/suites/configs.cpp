#include <fmt/format.h>

#include <set>

#include "lab/gate_case.hpp"
#include "lab/suites/suites.hpp"

namespace radiance::lab {

namespace {

// A kind of weight that some backend has kernels of its own for.
struct Kind {
  const char* name;
  radiance_format format;
  int64_t k, group;
  bool spread = false;  // MXFP4: blocks of a feature too far apart to share a base
};

// Five slabs of 128 do not divide evenly among two or four parts.
constexpr Kind kKinds[] = {
    {"groups of 128", RADIANCE_AUTOROUND_INT4, 640, 128},
    {"groups of 256, a short last one", RADIANCE_AUTOROUND_INT4, 640, 256},
    {"groups of 64", RADIANCE_AUTOROUND_INT4, 640, 64},
    {"groups of 32", RADIANCE_AUTOROUND_INT4, 640, 32},
    {"groups of 40", RADIANCE_AUTOROUND_INT4, 640, 40},
    {"k no multiple of a slab", RADIANCE_AUTOROUND_INT4, 392, 128},
    {"blocks near each other", RADIANCE_MXFP4, 640, 32},
    {"blocks far apart", RADIANCE_MXFP4, 640, 32, true},
    {"k no multiple of a slab", RADIANCE_MXFP4, 416, 32},
};

// A whole tile of the widest kernel and a ragged one.
constexpr int64_t kFeatures = 131;

// Odd numbers that end within a tile. A configuration runs with the first of them that it takes:
// prefill has a whole block of rows and one row of the next, decode each of its numbers of tiles,
// and what is for few rows alone comes last.
constexpr int64_t kRows[] = {257, 61, 47, 29, 13, 3, 1};

void spread_blocks(Random& random, HostWeight& weight) {
  for (int64_t n = 0; n < weight.shape.n; ++n) {
    for (int64_t g = 0; g < weight.shape.groups(); ++g) {
      weight.set_scale(g, n, static_cast<uint16_t>(95 + random.below(24)));
    }
  }
}

void run_kind(Gate& gate, const Kind& kind, uint64_t index) {
  constexpr radiance_dtype kOut[] = {RADIANCE_BF16, RADIANCE_F16, RADIANCE_F32};
  Random random = gate.random("configs", index);
  HostWeight weight = random_weight(random, kind.format, kFeatures, kind.k, kind.group);
  if (kind.spread) spread_blocks(random, weight);
  HostRows rows = random_rows(random, RADIANCE_BF16, kRows[0], kind.k);
  const Problem problem(random, std::move(weight), std::move(rows));
  const DeviceWeight device_weight(gate.engine(), problem.weight);
  std::set<std::string> done;
  for (const int64_t m : kRows) {
    for (const Plan& plan : gate.engine().backend().configs(problem.weight.shape, m)) {
      if (!done.insert(plan.config).second) continue;
      Variation variation;
      variation.suite = "configs";
      variation.name = fmt::format("{}, M={}", kind.name, m);
      variation.m = m;
      variation.first_row = random.below(kRows[0] - m + 1);
      variation.config_prefix = plan.config;
      variation.out_dtype = kOut[done.size() % 3];
      variation.bias = done.size() % 2 == 1;
      variation.ldy = done.size() % 4 == 1 ? kFeatures + 3 : 0;
      CaseResult result = run_case(device_weight, problem, variation);
      if (result.status == Status::kPassed && result.config != plan.config) {
        result.status = Status::kFailed;
        result.reason = fmt::format("{} was asked for and {} ran", plan.config, result.config);
      }
      gate.add(std::move(result));
    }
  }
}

}  // namespace

void run_configs_suite(Gate& gate) {
  uint64_t index = 0;
  for (const Kind& kind : kKinds) {
    gate.progress(fmt::format("configs: {}", kind.name));
    run_kind(gate, kind, index++);
  }
}

}  // namespace radiance::lab
