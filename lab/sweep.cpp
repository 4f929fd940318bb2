#include "lab/sweep.hpp"

#include <fmt/format.h>

#include <memory>

#include "lab/bench_entry.hpp"
#include "lab/elements.hpp"
#include "radiance/error.hpp"

namespace radiance::lab {

namespace {

// The planned configuration's name, then the variants'.
std::vector<std::string> contestants(const Backend& backend, const WeightShape& shape, int64_t m,
                                     Variants variants, const std::string& prefix) {
  std::vector<std::string> names{backend.plan(shape, m).config};
  for (const Plan& plan :
       variants == Variants::kConfigs ? backend.configs(shape, m) : backend.ablations(shape, m)) {
    if (plan.config != names.front() && plan.config.starts_with(prefix)) {
      names.push_back(plan.config);
    }
  }
  return names;
}

}  // namespace

std::vector<BenchRow> run_sweep(const Engine& engine, const BenchOptions& options,
                                Variants variants, const BenchEvents& events) {
  std::vector<BenchRow> rows;
  PeakGuard guard(engine.backend());
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
          std::vector<std::unique_ptr<BenchEntry>> entries;
          std::vector<Contestant> in_turn;
          for (const std::string& name :
               contestants(engine.backend(), weights->shape(), m, variants, options.config)) {
            entries.push_back(
                std::make_unique<BenchEntry>(engine, options, *weights, x, m, scope, name));
            in_turn.push_back(entries.back()->contestant());
          }
          any = any || entries.size() > 1;
          const Measurement measurement =
              measure_interleaved(engine, guard, in_turn, options.limits);
          const Samples& planned = measurement.contestants.front();
          for (size_t i = 0; i < entries.size(); ++i) {
            const Samples& samples = measurement.contestants[i];
            rows.push_back(bench_row(engine, guard, shape, m, *entries[i], measurement, samples));
            set_ratio(samples, planned, rows.back());
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
