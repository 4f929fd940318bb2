#include <fmt/format.h>

#include <cmath>
#include <limits>

#include "lab/elements.hpp"
#include "lab/gate_case.hpp"
#include "lab/suites/suites.hpp"
#include "radiance/error.hpp"

namespace radiance::lab {

namespace {

// Uniform in the logarithm, 1..limit.
int64_t log_uniform(Random& random, int64_t limit) {
  return std::min(limit, static_cast<int64_t>(std::exp2(
                             random.uniform(0.0, std::log2(static_cast<double>(limit) + 1)))));
}

radiance_dtype any_dtype(Random& random) {
  constexpr radiance_dtype kDtypes[] = {RADIANCE_BF16, RADIANCE_F16, RADIANCE_F32};
  return kDtypes[random.below(3)];
}

int64_t any_group(Random& random) {
  constexpr int64_t kUsual[] = {32, 64, 128, -1};
  return random.chance(0.7) ? kUsual[random.below(4)] : 8 * (1 + random.below(40));
}

// Rows, one in three with something that is not finite in them.
void break_rows(Random& random, HostRows& rows) {
  const float broken[] = {std::numeric_limits<float>::quiet_NaN(),
                          std::numeric_limits<float>::infinity(),
                          -std::numeric_limits<float>::infinity()};
  const int64_t sure = random.below(rows.m);
  for (int64_t row = 0; row < rows.m; ++row) {
    if (row == sure || random.chance(0.3)) {
      rows.set(row, random.below(rows.k), broken[random.below(3)]);
    }
  }
}

// Outputs among fp16's subnormals round by more than the gate's relative error, whatever computes
// them: such a case says nothing, and is given bf16.
bool drowns_in_fp16(const Problem& problem, bool bias) {
  double squares = 0;
  const int64_t n = problem.weight.shape.n;
  for (int64_t at = 0; at < problem.reference.m * n; ++at) {
    double y = problem.reference.value[static_cast<size_t>(at)];
    if (bias) y += load_float(problem.bias.data(), problem.bias_dtype, at % n);
    if (!std::isnan(y)) squares += y * y;
  }
  const auto count = static_cast<double>(problem.reference.m * n);
  return std::sqrt(squares / count) * kMaxRelativeError < 8 * bound_for(RADIANCE_F16, "cpu").a;
}

void run_one(Gate& gate, uint64_t index) {
  Random random = gate.random("fuzz", index);
  const bool mxfp4 = random.chance(0.3);
  // Whole slabs are what kernels are made for, anything else is what they must not stumble over.
  const int64_t k = random.chance(0.6) ? 128 * log_uniform(random, mxfp4 ? 16 : 25)
                    : mxfp4            ? 32 * log_uniform(random, 64)
                                       : 8 * log_uniform(random, 400);
  const int64_t n = log_uniform(random, 400);
  const int64_t m = random.chance(0.12) ? 1 + random.below(600) : log_uniform(random, 70);
  const int64_t group = mxfp4 ? 32 : any_group(random);
  const int64_t ldx = random.chance(0.5) ? k : k + random.below(40);
  HostWeight weight =
      random_weight(random, mxfp4 ? RADIANCE_MXFP4 : RADIANCE_AUTOROUND_INT4, n, k, group);
  HostRows rows = random_rows(random, any_dtype(random), m, k, ldx);
  const bool broken = index % 4 == 3;
  if (broken) break_rows(random, rows);
  const Problem problem(random, std::move(weight), std::move(rows));

  Variation variation;
  variation.suite = "fuzz";
  variation.m = m;
  variation.out_dtype = any_dtype(random);
  variation.bias = random.chance(0.5);
  if (variation.out_dtype == RADIANCE_F16 && drowns_in_fp16(problem, variation.bias)) {
    variation.out_dtype = RADIANCE_BF16;
  }
  variation.ldy = random.chance(0.5) ? 0 : n + random.below(40);
  variation.forward = random.chance(0.5);
  const int threads = 1 + static_cast<int>(random.below(4));

  CaseResult result;
  try {
    const DeviceWeight device_weight(gate.engine(), problem.weight);
    // Any legal configuration, named in full.
    const auto configs = gate.engine().backend().configs(problem.weight.shape, m);
    const auto choice = static_cast<size_t>(random.below(static_cast<int64_t>(configs.size())));
    variation.config_prefix = configs[choice].config;
    const bool is_cpu = std::string(gate.engine().backend().target()) == "cpu";
    variation.name = fmt::format(
        "{} x {}, ldx +{}, ldy +{}, {}{}{}", index, dtype_name(problem.rows.dtype), ldx - k,
        variation.ldy == 0 ? 0 : variation.ldy - n, variation.forward ? "op" : "gemm",
        broken ? ", NaN rows" : "", is_cpu ? fmt::format(", {} threads", threads) : "");
    const Launch launched = launch(device_weight, problem, variation);
    result = judge(problem, variation, launched, gate.engine().backend().target());
    if (is_cpu && result.status == Status::kPassed) {
      // The same bits whatever the number of threads.
      const DeviceWeight other_weight(gate.engine_with_threads(threads), problem.weight);
      const Launch other = launch(other_weight, problem, variation);
      const std::string difference =
          other.failure.empty() ? compare_images(launched.layout, launched.image, other.image)
                                : other.failure;
      if (!difference.empty()) {
        result.status = Status::kFailed;
        result.reason = fmt::format("with {} threads {}", threads, difference);
      }
    }
  } catch (const Error& error) {
    result = case_of(problem, variation, variation.config_prefix);
    result.status = Status::kFailed;
    result.reason = error.what();
  }
  gate.add(std::move(result));
}

}  // namespace

void run_fuzz_suite(Gate& gate) {
  for (int index = 0; index < gate.options().fuzz_cases; ++index) {
    if (index % 10 == 0) gate.progress(fmt::format("fuzz {}", index));
    run_one(gate, static_cast<uint64_t>(index));
  }
}

}  // namespace radiance::lab
