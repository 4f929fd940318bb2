#include <fmt/format.h>

#include "lab/gate_case.hpp"
#include "lab/suites/suites.hpp"
#include "radiance/error.hpp"

namespace radiance::lab {

namespace {

// Three blocks of 128 features, ten slabs: parts of K of unequal size.
constexpr int64_t kFeatures = 264, kDepth = 1280;
constexpr int64_t kRows[] = {1, 17, 40, 64};
constexpr int kLaunches = 4;  // of two runs each

// Runs one configuration again and again: on a card as its workgroups happen to run, on the
// emulator each time in another random order of workgroups and waves, on the processor by other
// numbers of threads.
CaseResult run_again(Gate& gate, const Problem& problem, const Variation& variation) {
  const bool is_cpu = std::string(gate.engine().backend().target()) == "cpu";
  CaseResult result;
  try {
    Launch first;
    for (int i = 0; i < kLaunches; ++i) {
      const Engine& engine = is_cpu && i > 0 ? gate.engine_with_threads(i) : gate.engine();
      const DeviceWeight weight(engine, problem.weight);
      Launch launched = launch(weight, problem, variation);
      if (i == 0) {
        result = judge(problem, variation, launched, engine.backend().target());
        first = std::move(launched);
        continue;
      }
      const std::string difference = launched.failure.empty()
                                         ? compare_images(first.layout, first.image, launched.image)
                                         : launched.failure;
      if (difference.empty() || !result.reason.empty()) continue;
      result.reason = fmt::format("in run {}, {}", 2 * i + 1, difference);
    }
  } catch (const Error& error) {
    result = case_of(problem, variation, variation.config_prefix);
    result.reason = error.what();
  }
  if (!result.reason.empty()) result.status = Status::kFailed;
  return result;
}

}  // namespace

void run_order_suite(Gate& gate) {
  uint64_t index = 0;
  for (const radiance_format format : {RADIANCE_AUTOROUND_INT4, RADIANCE_MXFP4}) {
    Random random = gate.random("order", index++);
    HostWeight weight = random_weight(random, format, kFeatures, kDepth, 128);
    HostRows rows = random_rows(random, RADIANCE_BF16, kRows[3], kDepth);
    const Problem problem(random, std::move(weight), std::move(rows));
    for (const int64_t m : kRows) {
      gate.progress(fmt::format("order M={}", m));
      for (const Plan& plan : gate.engine().backend().configs(problem.weight.shape, m)) {
        if (!plan.config.starts_with("decode")) continue;
        Variation variation;
        variation.suite = "order";
        variation.name = fmt::format("{} runs alike, M={}", 2 * kLaunches, m);
        variation.m = m;
        variation.config_prefix = plan.config;
        variation.out_dtype = RADIANCE_F32;
        gate.add(run_again(gate, problem, variation));
      }
    }
  }
}

}  // namespace radiance::lab
