#include "lab/bench.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <memory>

#include "lab/bench_entry.hpp"
#include "lab/elements.hpp"
#include "lab/rivals.hpp"
#include "lab/statistics.hpp"
#include "radiance/error.hpp"

namespace radiance::lab {

namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

bool parse_extent(const std::string& text, int64_t* extent) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), *extent);
  return error == std::errc() && end == text.data() + text.size() && *extent > 0;
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

namespace {

// The rivals of one shape.
std::vector<std::unique_ptr<RivalWeights>> rival_weights(const RivalLibrary* library,
                                                         const BenchShape& shape,
                                                         const HostRows& rows) {
  std::vector<std::unique_ptr<RivalWeights>> all;
  if (library == nullptr) return all;
  for (const RivalKind kind : {RivalKind::kFp8, RivalKind::kBf16}) {
    all.push_back(std::make_unique<RivalWeights>(*library, kind, shape.n, shape.k, rows));
  }
  return all;
}

RivalResult rival_result(const BenchRow& row, const Samples& ours, const RivalProduct& rival,
                         const Samples& theirs) {
  RivalResult result;
  result.name = rival.name();
  result.us = median(theirs.us);
  result.us_spread = spread(theirs.us);
  result.tflops = row.tflops() * row.us / result.us;
  result.candidates = rival.candidates();
  result.rows = rival.rows();
  const std::vector<double> ratios = ratios_of(ours, theirs);
  result.ratio = median(ratios);
  result.ratio_spread = spread(ratios);
  return result;
}

// The scopes that are timed together: all where a graph is replayed, for then nothing is lost by it
// and their difference is of the same moments.
std::vector<std::vector<Scope>> scopes_together(const Device& device,
                                                const std::vector<Scope>& scopes) {
  if (device.captures()) return {scopes};
  std::vector<std::vector<Scope>> alone;
  for (const Scope scope : scopes) alone.push_back({scope});
  return alone;
}

}  // namespace

std::vector<BenchRow> run_bench(const Engine& engine, const BenchOptions& options,
                                const BenchEvents& events) {
  std::vector<BenchRow> rows;
  std::unique_ptr<RivalLibrary> library;
  if (options.rivals) library = std::make_unique<RivalLibrary>(engine);
  PeakGuards guards = bench_guards(engine);
  for (const BenchShape& shape : options.shapes) {
    const HostRows x = bench_rows(options, shape.k);
    const auto others = rival_weights(library.get(), shape, x);
    for (const radiance_format format : options.formats) {
      if (events.on_progress) {
        events.on_progress(fmt::format("{} {}", shape.name, format_name(format)));
      }
      const auto weights = bench_weights(engine, options, format, shape);
      for (const std::vector<Scope>& scopes : scopes_together(engine.device(), options.scopes)) {
        for (const int64_t m : options.rows) {
          std::vector<std::unique_ptr<BenchEntry>> entries;
          std::vector<std::unique_ptr<RivalProduct>> rivals;
          std::vector<Contestant> in_turn;
          for (const Scope scope : scopes) {
            entries.push_back(std::make_unique<BenchEntry>(engine, options, guards, *weights, x, m,
                                                           scope, options.config));
            in_turn.push_back(entries.back()->contestant());
          }
          for (const auto& other : others) {
            rivals.push_back(std::make_unique<RivalProduct>(*other, m));
            in_turn.push_back(rivals.back()->contestant());
          }
          const Measurement measurement = measure_interleaved(engine, in_turn, options.limits);
          for (size_t i = 0; i < entries.size(); ++i) {
            const Samples& ours = measurement.contestants[i];
            BenchRow row = bench_row(engine, shape, m, *entries[i], measurement, ours);
            for (size_t r = 0; r < rivals.size(); ++r) {
              const Samples& theirs = measurement.contestants[entries.size() + r];
              row.rivals.push_back(rival_result(row, ours, *rivals[r], theirs));
            }
            rows.push_back(std::move(row));
            if (events.on_row) events.on_row(rows.back());
          }
        }
      }
    }
  }
  return rows;
}

std::vector<BenchRow> run_compare(const Engine& engine, const BenchOptions& options,
                                  const BenchEvents& events) {
  std::vector<BenchRow> rows;
  PeakGuards guards = bench_guards(engine);
  for (const BenchShape& shape : options.shapes) {
    if (events.on_progress) events.on_progress(shape.name);
    const HostRows x = bench_rows(options, shape.k);
    const auto int4 = bench_weights(engine, options, RADIANCE_AUTOROUND_INT4, shape);
    const auto mxfp4 = bench_weights(engine, options, RADIANCE_MXFP4, shape);
    for (const Scope scope : options.scopes) {
      for (const int64_t m : options.rows) {
        BenchEntry first(engine, options, guards, *int4, x, m, scope, "");
        BenchEntry second(engine, options, guards, *mxfp4, x, m, scope, "");
        const Measurement measurement =
            measure_interleaved(engine, {first.contestant(), second.contestant()}, options.limits);
        const Samples& a = measurement.contestants[0];
        const Samples& b = measurement.contestants[1];
        rows.push_back(bench_row(engine, shape, m, first, measurement, a));
        set_ratio(a, b, rows.back());
        if (events.on_row) events.on_row(rows.back());
        rows.push_back(bench_row(engine, shape, m, second, measurement, b));
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
                            {"replayed", row.replayed},
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
                            {"counters", row.counters}};
    if (!std::isnan(row.ratio)) {
      entry["ratio"] = row.ratio;
      entry["ratio_spread"] = row.ratio_spread;
    }
    if (!row.ratio_to.empty()) entry["ratio_to"] = row.ratio_to;
    for (const RivalResult& rival : row.rivals) {
      entry["rivals"].push_back({{"name", rival.name},
                                 {"us", rival.us},
                                 {"us_spread", rival.us_spread},
                                 {"tflops", rival.tflops},
                                 {"candidates", rival.candidates},
                                 {"rows", rival.rows},
                                 {"ratio", rival.ratio},
                                 {"ratio_spread", rival.ratio_spread}});
    }
    array.push_back(std::move(entry));
  }
  return {{"rows", std::move(array)}};
}

}  // namespace radiance::lab
