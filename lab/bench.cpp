#include "lab/bench.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <map>
#include <memory>

#include "lab/elements.hpp"
#include "lab/gate_case.hpp"
#include "lab/statistics.hpp"
#include "radiance/error.hpp"

namespace radiance::lab {

namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

bool parse_extent(const std::string& text, int64_t* extent) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), *extent);
  return error == std::errc() && end == text.data() + text.size() && *extent > 0;
}

// A weight of one format on the device, in copies.
std::unique_ptr<WeightRotation> make_weights(const Engine& engine, const BenchOptions& options,
                                             radiance_format format, const BenchShape& shape) {
  Random random(derived_seed(options.seed, "bench", static_cast<uint64_t>(format)));
  const HostWeight weight = random_weight(random, format, shape.n, shape.k, options.group);
  return std::make_unique<WeightRotation>(engine, weight, options.copies);
}

std::string resolve_config(const Engine& engine, const WeightShape& shape, int64_t m,
                           const std::string& wanted) {
  if (wanted.empty()) return engine.backend().plan(shape, m).config;
  const std::optional<std::string> config = find_config(engine.backend(), shape, m, wanted);
  if (config) return *config;
  std::string legal;
  for (const Plan& plan : engine.backend().configs(shape, m)) legal += " " + plan.config;
  throw Error(RADIANCE_INVALID_ARGUMENT,
              fmt::format("no configuration for M = {} of {}x{} begins with {}; there are{}", m,
                          shape.n, shape.k, wanted, legal));
}

// A guard for each configuration that the bench meets.
class Guards {
 public:
  explicit Guards(Backend& backend) : backend_(backend) {}
  PeakGuard& of(const std::string& config) {
    return guards_.try_emplace(config, backend_, config).first->second;
  }

 private:
  Backend& backend_;
  std::map<std::string, PeakGuard> guards_;
};

// One contestant with everything it needs; not movable, for calls borrows config.
struct Entry {
  Entry(const Engine& engine, const BenchOptions& options, WeightRotation& weight_rotation,
        const HostRows& rows, int64_t m, Scope call_scope, const std::string& wanted_config)
      : weights(&weight_rotation),
        config(resolve_config(engine, weights->shape(), m, wanted_config)),
        calls(engine, weights->front(), rows, m, options.y_dtype,
              wanted_config.empty() ? nullptr : config.c_str()),
        scope(call_scope) {}
  Entry(const Entry&) = delete;
  Entry& operator=(const Entry&) = delete;

  Contestant contestant() { return {weights, &calls, scope}; }

  WeightRotation* weights;
  std::string config;
  CallRotation calls;
  Scope scope;
};

BenchRow make_row(const Engine& engine, const PeakGuard& guard, const BenchShape& shape, int64_t m,
                  const Entry& entry, const Measurement& measurement, const Samples& samples) {
  BenchRow row;
  row.format = entry.weights->shape().format;
  row.config = entry.config;
  row.shape = shape;
  row.m = m;
  row.group = entry.weights->shape().group;
  row.scope = entry.scope;
  row.threads = engine.device().info().units;
  row.samples = static_cast<int>(samples.us.size());
  row.discarded = measurement.discarded;
  row.calls_per_sample = samples.calls_per_sample;
  row.working_set_bytes = entry.weights->working_set_bytes();
  row.packed_bytes = entry.weights->packed_bytes();
  row.us = median(samples.us);
  row.us_spread = spread(samples.us);
  row.gbps = static_cast<double>(row.packed_bytes) / row.us * 1e-3;
  row.probe_gbps = median(samples.probe_gbps);
  row.probe_spread = spread(samples.probe_gbps);
  row.peak_gmacs = median(measurement.peak_gmacs);
  row.good_peak_gmacs = guard.good_gmacs();
  row.best_peak_gmacs = guard.best_gmacs();
  row.peak_instruction = guard.instruction();
  row.ratio = row.ratio_spread = kNan;
  return row;
}

// Rows enough for the largest M of the options.
HostRows bench_rows(const BenchOptions& options, int64_t k) {
  Random random(derived_seed(options.seed, "bench rows"));
  return random_rows(random, RADIANCE_BF16,
                     *std::max_element(options.rows.begin(), options.rows.end()), k);
}

}  // namespace

BenchShape bench_shape(const std::string& text) {
  if (text == "gate_up") return {text, 17408, 5120};
  if (text == "down") return {text, 5120, 8704};
  if (text == "out") return {text, 5120, 5120};
  BenchShape shape{text, 0, 0};
  const size_t times = text.find('x');
  if (times == std::string::npos || !parse_extent(text.substr(0, times), &shape.n) ||
      !parse_extent(text.substr(times + 1), &shape.k)) {
    throw Error(RADIANCE_INVALID_ARGUMENT, "a shape is gate_up, down, out or NxK, not " + text);
  }
  return shape;
}

const char* scope_name(Scope scope) { return scope == Scope::kOp ? "op" : "gemm"; }

double BenchRow::tflops() const {
  return 2.0 * static_cast<double>(m) * static_cast<double>(shape.n) *
         static_cast<double>(shape.k) / us * 1e-6;
}

double BenchRow::bits_per_weight() const {
  return 8.0 * static_cast<double>(packed_bytes) /
         (static_cast<double>(shape.n) * static_cast<double>(shape.k));
}

Roofline BenchRow::roof() const {
  return roofline(m, shape.n, shape.k, static_cast<double>(packed_bytes), probe_gbps, peak_gmacs);
}

std::vector<BenchRow> run_bench(const Engine& engine, const BenchOptions& options,
                                const BenchEvents& events) {
  std::vector<BenchRow> rows;
  Guards guards(engine.backend());
  for (const BenchShape& shape : options.shapes) {
    const HostRows x = bench_rows(options, shape.k);
    for (const radiance_format format : options.formats) {
      if (events.on_progress) {
        events.on_progress(fmt::format("{} {}", shape.name, format_name(format)));
      }
      const auto weights = make_weights(engine, options, format, shape);
      for (const Scope scope : options.scopes) {
        for (const int64_t m : options.rows) {
          Entry entry(engine, options, *weights, x, m, scope, options.config);
          PeakGuard& guard = guards.of(entry.config);
          const Measurement measurement =
              measure_interleaved(engine, guard, {entry.contestant()}, options.limits);
          rows.push_back(
              make_row(engine, guard, shape, m, entry, measurement, measurement.contestants[0]));
          if (events.on_row) events.on_row(rows.back());
        }
      }
    }
  }
  return rows;
}

std::vector<BenchRow> run_compare(const Engine& engine, const BenchOptions& options,
                                  const BenchEvents& events) {
  std::vector<BenchRow> rows;
  Guards guards(engine.backend());
  for (const BenchShape& shape : options.shapes) {
    if (events.on_progress) events.on_progress(shape.name);
    const HostRows x = bench_rows(options, shape.k);
    const auto int4 = make_weights(engine, options, RADIANCE_AUTOROUND_INT4, shape);
    const auto mxfp4 = make_weights(engine, options, RADIANCE_MXFP4, shape);
    for (const Scope scope : options.scopes) {
      for (const int64_t m : options.rows) {
        Entry first(engine, options, *int4, x, m, scope, "");
        Entry second(engine, options, *mxfp4, x, m, scope, "");
        PeakGuard& guard = guards.of(first.config);
        const Measurement measurement = measure_interleaved(
            engine, guard, {first.contestant(), second.contestant()}, options.limits);
        const Samples& a = measurement.contestants[0];
        const Samples& b = measurement.contestants[1];
        std::vector<double> ratios(a.us.size());
        for (size_t i = 0; i < ratios.size(); ++i) ratios[i] = a.us[i] / b.us[i];
        rows.push_back(make_row(engine, guard, shape, m, first, measurement, a));
        rows.back().ratio = median(ratios);
        rows.back().ratio_spread = spread(ratios);
        if (events.on_row) events.on_row(rows.back());
        rows.push_back(make_row(engine, guard, shape, m, second, measurement, b));
        if (events.on_row) events.on_row(rows.back());
      }
    }
  }
  return rows;
}

nlohmann::json to_json(const std::vector<BenchRow>& rows) {
  nlohmann::json array = nlohmann::json::array();
  for (const BenchRow& row : rows) {
    nlohmann::json entry = {{"format", format_name(row.format)},
                            {"config", row.config},
                            {"shape", row.shape.name},
                            {"M", row.m},
                            {"N", row.shape.n},
                            {"K", row.shape.k},
                            {"group", row.group},
                            {"scope", scope_name(row.scope)},
                            {"threads", row.threads},
                            {"samples", row.samples},
                            {"discarded", row.discarded},
                            {"calls_per_sample", row.calls_per_sample},
                            {"working_set_bytes", row.working_set_bytes},
                            {"packed_bytes", row.packed_bytes},
                            {"bits_per_weight", row.bits_per_weight()},
                            {"us", row.us},
                            {"us_spread", row.us_spread},
                            {"gbps", row.gbps},
                            {"probe_gbps", row.probe_gbps},
                            {"probe_spread", row.probe_spread},
                            {"fraction", row.fraction()},
                            {"tflops", row.tflops()},
                            {"peak", row.peak_gmacs},
                            {"good_peak", row.good_peak_gmacs},
                            {"best_peak", row.best_peak_gmacs},
                            {"peak_instruction", row.peak_instruction},
                            {"memory_us", row.roof().memory_us},
                            {"compute_us", row.roof().compute_us},
                            {"roofline_fraction", row.roofline_fraction()},
                            {"counters", nullptr}};
    if (!std::isnan(row.ratio)) {
      entry["ratio"] = row.ratio;
      entry["ratio_spread"] = row.ratio_spread;
    }
    array.push_back(std::move(entry));
  }
  return {{"rows", std::move(array)}};
}

}  // namespace radiance::lab
