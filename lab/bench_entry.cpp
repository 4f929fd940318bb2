#include "lab/bench_entry.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <limits>

#include "lab/call_counters.hpp"
#include "lab/gate_case.hpp"
#include "lab/statistics.hpp"
#include "radiance/error.hpp"

namespace radiance::lab {

namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

std::string resolve_config(const Engine& engine, const WeightShape& shape, int64_t m,
                           const std::string& wanted) {
  const Backend& backend = engine.backend();
  if (wanted.empty()) return backend.plan(shape, m).config;
  std::vector<std::string> all;
  for (Plan& plan : backend.configs(shape, m)) all.push_back(std::move(plan.config));
  for (Ablation& ablation : backend.ablations(shape, m)) all.push_back(std::move(ablation.config));
  if (std::find(all.begin(), all.end(), wanted) != all.end()) return wanted;
  const std::optional<std::string> config = find_config(backend, shape, m, wanted);
  if (config) return *config;
  std::string legal;
  for (const std::string& name : all) legal += " " + name;
  throw Error(RADIANCE_INVALID_ARGUMENT,
              fmt::format("no configuration for M = {} of {}x{} begins with {}; there are{}", m,
                          shape.n, shape.k, wanted, legal));
}

bool counts(const Engine& engine) { return engine.device().take_counters().has_value(); }

}  // namespace

std::unique_ptr<WeightRotation> bench_weights(const Engine& engine, const BenchOptions& options,
                                              radiance_format format, const BenchShape& shape) {
  Random random(derived_seed(options.seed, "bench", static_cast<uint64_t>(format)));
  const HostWeight weight = random_weight(random, format, shape.n, shape.k, options.group);
  return std::make_unique<WeightRotation>(engine, weight, counts(engine) ? 1 : options.copies);
}

PeakGuards bench_guards(const Engine& engine) {
  const int first_probes = counts(engine)               ? 0
                           : engine.device().captures() ? PeakGuard::kFewProbes
                                                        : PeakGuard::kFirstProbes;
  return {engine.backend(), first_probes};
}

HostRows bench_rows(const BenchOptions& options, int64_t k) {
  Random random(derived_seed(options.seed, "bench rows"));
  constexpr int64_t kDrawn = 512;
  const int64_t m = *std::max_element(options.rows.begin(), options.rows.end());
  HostRows rows = plain_rows(random, RADIANCE_BF16, std::min(m, kDrawn), k);
  // More are the same again: drawing them would take longer than timing them.
  const size_t row_bytes = rows.data.size() / static_cast<size_t>(rows.m);
  const size_t drawn = rows.data.size();
  rows.data.resize(static_cast<size_t>(m) * row_bytes);
  for (size_t at = drawn; at < rows.data.size(); at += drawn) {
    std::memcpy(&rows.data[at], rows.data.data(), std::min(drawn, rows.data.size() - at));
  }
  rows.m = m;
  return rows;
}

BenchEntry::BenchEntry(const Engine& engine, const BenchOptions& options, PeakGuards& guards,
                       WeightRotation& weight_rotation, const HostRows& rows, int64_t m,
                       Scope call_scope, const std::string& wanted_config)
    : backend(&engine.backend()),
      weights(&weight_rotation),
      config(resolve_config(engine, weights->shape(), m, wanted_config)),
      calls(engine, weights->front(), rows, m, options.y_dtype,
            wanted_config.empty() ? nullptr : config.c_str()),
      scope(call_scope),
      guard(&guards.of(config)) {}

Contestant BenchEntry::contestant() {
  Contestant result;
  result.name = fmt::format("{} {} of {} rows", config, scope_name(scope), calls.m());
  result.call = [this](StreamHandle stream) {
    ForwardCall call = calls.next();
    call.gemm.stream = stream;
    const Linear& linear = weights->next_linear();
    if (scope == Scope::kOp) {
      linear.forward(call);
    } else {
      linear.gemm(call.gemm);
    }
  };
  result.read_bytes = weights->packed_bytes() / 64 * 64;
  result.read = [this, bytes = result.read_bytes](StreamHandle stream) {
    backend->stream_read(weights->next_buffer().get(), bytes, stream);
  };
  result.copies = weights->copies();
  result.guard = guard;
  return result;
}

BenchRow bench_row(const Engine& engine, const BenchShape& shape, int64_t m,
                   const BenchEntry& entry, const Measurement& measurement,
                   const Samples& samples) {
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
  row.replayed = measurement.replayed;
  row.working_set_bytes = entry.weights->working_set_bytes();
  row.packed_bytes = entry.weights->packed_bytes();
  row.us = median(samples.us);
  row.us_spread = spread(samples.us);
  row.gbps = static_cast<double>(row.packed_bytes) / row.us * 1e-3;
  row.probe_gbps = median(samples.probe_gbps);
  row.probe_spread = spread(samples.probe_gbps);
  row.peak_gmacs = median(samples.peak_gmacs);
  row.good_peak_gmacs = entry.guard->good_gmacs();
  row.best_peak_gmacs = entry.guard->best_gmacs();
  row.peak_instruction = entry.guard->instruction();
  row.ratio = row.ratio_spread = kNan;
  if (samples.counters) {
    row.counters = summarized_counters(*samples.counters, m, shape.n, shape.k);
  }
  return row;
}

std::vector<double> ratios_of(const Samples& a, const Samples& b) {
  std::vector<double> ratios(a.us.size());
  for (size_t i = 0; i < ratios.size(); ++i) ratios[i] = a.us[i] / b.us[i];
  return ratios;
}

void set_ratio(const Samples& a, const Samples& b, BenchRow& row) {
  const std::vector<double> ratios = ratios_of(a, b);
  row.ratio = median(ratios);
  row.ratio_spread = spread(ratios);
}

}  // namespace radiance::lab
