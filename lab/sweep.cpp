#include "lab/sweep.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <memory>

#include "lab/bench_entry.hpp"
#include "lab/elements.hpp"
#include "radiance/error.hpp"

namespace radiance::lab {

namespace {

struct Candidate {
  std::string config;
  size_t reference = 0;  // which of the list its time is divided by
};

// The planned configuration, then the variants.
std::vector<Candidate> candidates(const Backend& backend, const WeightShape& shape, int64_t m,
                                  Variants variants, const std::string& prefix) {
  std::vector<Candidate> all{{backend.plan(shape, m).config, 0}};
  // Where a configuration stands in the list, which it joins if it does not.
  const auto place = [&](const std::string& config) {
    const auto found = std::find_if(all.begin(), all.end(),
                                    [&](const Candidate& c) { return c.config == config; });
    if (found != all.end()) return static_cast<size_t>(found - all.begin());
    all.push_back({config, 0});
    return all.size() - 1;
  };
  if (variants == Variants::kConfigs) {
    for (const Plan& plan : backend.configs(shape, m)) {
      if (plan.config.starts_with(prefix)) place(plan.config);
    }
  } else {
    for (const Ablation& ablation : backend.ablations(shape, m)) {
      if (!ablation.config.starts_with(prefix)) continue;
      const size_t reference = place(ablation.of);
      all.push_back({ablation.config, reference});
    }
  }
  return all;
}

}  // namespace

std::vector<BenchRow> run_sweep(const Engine& engine, const BenchOptions& options,
                                Variants variants, const BenchEvents& events) {
  std::vector<BenchRow> rows;
  PeakGuards guards = bench_guards(engine);
  bool any = false;
  for (const BenchShape& shape : options.shapes) {
    const HostRows x = bench_rows(options, shape.k);
    for (const radiance_format format : options.formats) {
      if (events.on_progress) {
        events.on_progress(fmt::format("{} {}", shape.name, format_name(format)));
      }
      const auto weights = bench_weights(engine, options, format, shape);
      for (const Scope scope : options.scopes) {
        for (const int64_t m : options.rows) {
          const std::vector<Candidate> all =
              candidates(engine.backend(), weights->shape(), m, variants, options.config);
          std::vector<std::unique_ptr<BenchEntry>> entries;
          std::vector<Contestant> in_turn;
          for (const Candidate& candidate : all) {
            entries.push_back(std::make_unique<BenchEntry>(engine, options, guards, *weights, x, m,
                                                           scope, candidate.config));
            in_turn.push_back(entries.back()->contestant());
          }
          any = any || entries.size() > 1;
          const Measurement measurement = measure_interleaved(engine, in_turn, options.limits);
          for (size_t i = 0; i < entries.size(); ++i) {
            const Samples& samples = measurement.contestants[i];
            rows.push_back(bench_row(engine, shape, m, *entries[i], measurement, samples));
            rows.back().ratio_to = all[all[i].reference].config;
            set_ratio(samples, measurement.contestants[all[i].reference], rows.back());
            if (events.on_row) events.on_row(rows.back());
          }
        }
      }
    }
  }
  if (!any) {
    throw Error(
        RADIANCE_UNSUPPORTED,
        fmt::format("{} has no {} beside the planned configurations{}", engine.device().info().arch,
                    variants == Variants::kConfigs ? "configuration" : "ablation",
                    options.config.empty() ? "" : " that begins with " + options.config));
  }
  return rows;
}

}  // namespace radiance::lab
