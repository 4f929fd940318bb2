// radiance compare: AutoRound and MXFP4 in one timing loop.
#include <fmt/format.h>

#include <cmath>
#include <memory>

#include "cli/bench_options.hpp"
#include "cli/command.hpp"
#include "lab/bench.hpp"

namespace radiance::cli {

namespace {

void run_compare_command(const BenchCommandOptions& options, const CLI::App& app) {
  const lab::BenchOptions bench = to_bench_options(options);
  const Engine engine(options.common.device, options.common.device_options());
  print_bench_heading(engine, bench);
  Progress progress;
  lab::BenchEvents events;
  events.on_progress = [&](const std::string& what) { progress.show("compare: " + what); };
  events.on_row = [&](const lab::BenchRow& row) {
    progress.show(fmt::format("compare: {} M={} {}", row.shape.name, row.m, us_text(row.us)));
  };
  const std::vector<lab::BenchRow> rows = lab::run_compare(engine, bench, events);
  progress.clear();
  TextTable table({"shape", "scope", "M", "autoround us", "spread", "mxfp4 us", "spread", "ratio",
                   "spread", "autoround config", "mxfp4 config"},
                  2);
  for (size_t i = 0; i + 1 < rows.size(); i += 2) {
    const lab::BenchRow& a = rows[i];
    const lab::BenchRow& b = rows[i + 1];
    table.add({a.shape.name, lab::scope_name(a.scope), std::to_string(a.m), us_text(a.us),
               percent_text(a.us_spread), us_text(b.us), percent_text(b.us_spread),
               std::isnan(a.ratio) ? "-" : fmt::format("{:.3f}", a.ratio),
               percent_text(a.ratio_spread), a.config, b.config});
  }
  table.print();
  print_bench_notes(rows);
  if (!rows.empty()) {
    fmt::print(
        "bits a weight: autoround {:.3f}, mxfp4 {:.3f}; ratio: median of the rounds' "
        "autoround over mxfp4\n",
        rows[0].bits_per_weight(), rows[1].bits_per_weight());
  }
  write_report(options.common, app, bench.seed, &engine.device(), lab::to_json(rows));
}

}  // namespace

void add_compare(CLI::App& app, int*) {
  auto options = std::make_shared<BenchCommandOptions>();
  options->scope = "gemm";
  CLI::App* compare = app.add_subcommand(
      "compare", "AutoRound and MXFP4 interleaved in one loop, each through its policy");
  add_bench_options(*compare, *options);
  compare->callback([options, compare] { run_compare_command(*options, *compare); });
}

}  // namespace radiance::cli
