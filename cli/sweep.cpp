// radiance sweep and radiance ablate: every variant of a call beside the planned one.
#include "lab/sweep.hpp"

#include <fmt/format.h>

#include <cmath>
#include <memory>

#include "cli/bench_options.hpp"
#include "cli/command.hpp"
#include "lab/elements.hpp"

namespace radiance::cli {

namespace {

void run_sweep_command(const BenchCommandOptions& options, lab::Variants variants,
                       const CLI::App& app) {
  const lab::BenchOptions bench = to_bench_options(options);
  const Engine engine(options.common.device, options.common.device_options());
  print_bench_heading(engine, bench);
  Progress progress;
  lab::BenchEvents events;
  events.on_progress = [&](const std::string& what) {
    progress.show(fmt::format("{}: {}", app.get_name(), what));
  };
  events.on_row = [&](const lab::BenchRow& row) {
    progress.show(fmt::format("{}: {} M={} {} {}", app.get_name(), row.shape.name, row.m,
                              row.config, us_text(row.us)));
  };
  const std::vector<lab::BenchRow> rows = lab::run_sweep(engine, bench, variants, events);
  progress.clear();
  if (!rows.empty() && !rows.front().counters.is_null()) {
    print_counters(rows);
    write_report(options.common, app, bench.seed, &engine.device(), lab::to_json(rows));
    return;
  }
  TextTable table({"shape", "format", "scope", "config", "over", "M", "us", "spread", "ratio",
                   "spread", "GB/s", "of probe", "GFLOP/s", "samples"},
                  5);
  for (const lab::BenchRow& row : rows) {
    table.add({row.shape.name, lab::format_name(row.format), lab::scope_name(row.scope), row.config,
               row.ratio_to, std::to_string(row.m), us_text(row.us), percent_text(row.us_spread),
               std::isnan(row.ratio) ? "-" : fmt::format("{:.3f}", row.ratio),
               percent_text(row.ratio_spread), rate_text(row.gbps), percent_text(row.fraction()),
               rate_text(row.tflops() * 1e3), std::to_string(row.samples)});
  }
  table.print();
  print_bench_notes(rows);
  fmt::print("ratio: median of the rounds' time over that of the configuration under \"over\"{}\n",
             variants == lab::Variants::kAblations ? "; ablations may compute wrong results" : "");
  write_report(options.common, app, bench.seed, &engine.device(), lab::to_json(rows));
}

void add(CLI::App& app, const char* name, const char* help, lab::Variants variants) {
  auto options = std::make_shared<BenchCommandOptions>();
  options->format = "autoround";
  options->scope = "gemm";
  options->rows = "1,8,40,64,512,2048";
  CLI::App* command = app.add_subcommand(name, help);
  add_bench_options(*command, *options);
  command->add_option("--format", options->format, "autoround, mxfp4 or both")
      ->capture_default_str()
      ->check(CLI::IsMember({"autoround", "mxfp4", "both"}));
  command->add_option("--config", options->config, "only variants whose names begin so");
  command->callback(
      [options, command, variants] { run_sweep_command(*options, variants, *command); });
}

}  // namespace

void add_sweep(CLI::App& app, int*) {
  add(app, "sweep", "every legal configuration beside the planned one: tiles, splits, widths",
      lab::Variants::kConfigs);
}

void add_ablate(CLI::App& app, int*) {
  add(app, "ablate", "variants without unpack, scale or LDS beside the planned configuration",
      lab::Variants::kAblations);
}

}  // namespace radiance::cli
