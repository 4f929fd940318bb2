#include <algorithm>
#include <cmath>

#include "lab/elements.hpp"
#include "lab/gate_case.hpp"
#include "lab/suites/shapes.hpp"
#include "lab/suites/suites.hpp"
#include "radiance/error.hpp"

namespace radiance::lab {

namespace {

constexpr int64_t kRows = 64;

// The difference of two outputs of one problem: within the sum of both bounds by element; rel is
// its norm over the reference's.
void judge_difference(const Problem& problem, const Launch& prefill, const Launch& decode,
                      const std::string& target, CaseResult& result) {
  const OutputLayout& layout = prefill.layout;
  const Bound bound = bound_for(layout.dtype, target);
  const uint8_t* a = prefill.image.data() + layout.origin();
  const uint8_t* b = decode.image.data() + layout.origin();
  double squared_difference = 0, squared_reference = 0;
  for (int64_t at = 0; at < layout.m * layout.n; ++at) {
    const double want = problem.reference.value[static_cast<size_t>(at)];
    const double limit = 2 * (bound.u * std::fabs(want) + bound.a +
                              bound.t * problem.reference.magnitude[static_cast<size_t>(at)]);
    const double difference = std::fabs(static_cast<double>(load_float(a, layout.dtype, at)) -
                                        static_cast<double>(load_float(b, layout.dtype, at)));
    squared_difference += difference * difference;
    squared_reference += want * want;
    result.max_elem = std::max(result.max_elem, difference / limit);
    if (!(difference <= limit) && result.reason.empty()) {
      result.reason = "prefill and decode differ in y[" + std::to_string(at / layout.n) + "][" +
                      std::to_string(at % layout.n) + "] by more than both bounds";
    }
  }
  result.rel = std::sqrt(squared_difference / squared_reference);
}

CaseResult cross_case(Gate& gate, const GateShape& shape, uint64_t index) {
  Random random = gate.random("cross", index);
  HostWeight weight = random_int4_weight(random, shape.n, shape.k, kGateGroup);
  HostRows rows = random_rows(random, RADIANCE_BF16, kRows, shape.k);
  const Problem problem(random, std::move(weight), std::move(rows));

  Variation variation;
  variation.suite = "cross";
  variation.name = shape.name() + " prefill against decode";
  variation.m = kRows;
  variation.out_dtype = RADIANCE_F32;  // bf16 would round the difference away
  CaseResult result = case_of(problem, variation, "");
  try {
    const DeviceWeight device_weight(gate.engine(), problem.weight);
    Launch launches[2];
    for (int side = 0; side < 2; ++side) {
      variation.config_prefix = side == 0 ? "prefill" : "decode";
      launches[side] = launch(device_weight, problem, variation);
      // Either side against fp64 first: two that agree in an error must not pass.
      const CaseResult alone =
          judge(problem, variation, launches[side], gate.engine().backend().target());
      // A fallback to the policy would compare a kernel with itself.
      const std::string wrong = alone.note.empty() ? alone.reason : alone.note;
      if (!wrong.empty() && result.reason.empty()) {
        result.reason = variation.config_prefix + ": " + wrong;
      }
    }
    result.config = launches[0].config + " against " + launches[1].config;
    judge_difference(problem, launches[0], launches[1], gate.engine().backend().target(), result);
  } catch (const Error& error) {
    result.reason = error.what();
  }
  if (!result.reason.empty()) result.status = Status::kFailed;
  return result;
}

}  // namespace

void run_cross_suite(Gate& gate) {
  uint64_t index = 0;
  for (const GateShape& shape : kCrossShapes) {
    gate.progress("cross " + shape.name());
    gate.add(cross_case(gate, shape, index++));
  }
}

}  // namespace radiance::lab
