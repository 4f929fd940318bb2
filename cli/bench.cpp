// radiance bench: time, bandwidth and share of the roofline.
#include "lab/bench.hpp"

#include <fmt/format.h>

#include <memory>

#include "cli/bench_options.hpp"
#include "cli/command.hpp"
#include "lab/elements.hpp"

namespace radiance::cli {

namespace {

std::vector<std::string> cells(const lab::BenchRow& row) {
  const lab::Roofline roof = row.roof();
  return {row.shape.name,
          lab::format_name(row.format),
          lab::scope_name(row.scope),
          row.config,
          std::to_string(row.m),
          us_text(row.us),
          percent_text(row.us_spread),
          rate_text(row.gbps),
          rate_text(row.probe_gbps),
          percent_text(row.fraction()),
          rate_text(row.tflops() * 1e3),
          us_text(roof.memory_us),
          us_text(roof.compute_us),
          percent_text(row.roofline_fraction()),
          std::to_string(row.samples),
          std::to_string(row.discarded)};
}

void run_bench_command(const BenchCommandOptions& options, const CLI::App& app) {
  const lab::BenchOptions bench = to_bench_options(options);
  const Engine engine(options.common.device, options.common.device_options());
  print_bench_heading(engine, bench);
  Progress progress;
  lab::BenchEvents events;
  events.on_progress = [&](const std::string& what) { progress.show("bench: " + what); };
  events.on_row = [&](const lab::BenchRow& row) {
    progress.show(fmt::format("bench: {} M={} {}", row.shape.name, row.m, us_text(row.us)));
  };
  const std::vector<lab::BenchRow> rows = lab::run_bench(engine, bench, events);
  progress.clear();
  if (!rows.empty() && !rows.front().counters.is_null()) {
    print_counters(rows);
    write_report(options.common, app, bench.seed, &engine.device(), lab::to_json(rows));
    return;
  }
  TextTable table(
      {"shape", "format", "scope", "config", "M", "us", "spread", "GB/s", "probe", "of probe",
       "GFLOP/s", "memory us", "compute us", "of roofline", "samples", "refused"},
      4);
  for (const lab::BenchRow& row : rows) table.add(cells(row));
  table.print();
  print_bench_notes(rows);
  write_report(options.common, app, bench.seed, &engine.device(), lab::to_json(rows));
}

}  // namespace

void add_bench(CLI::App& app, int*) {
  auto options = std::make_shared<BenchCommandOptions>();
  options->format = "autoround";
  CLI::App* bench = app.add_subcommand(
      "bench", "time, bandwidth beside an interleaved streaming read, share of the roofline");
  add_bench_options(*bench, *options);
  bench->add_option("--format", options->format, "autoround, mxfp4 or both")
      ->capture_default_str()
      ->check(CLI::IsMember({"autoround", "mxfp4", "both"}));
  bench->add_option("--config", options->config,
                    "a configuration, or how it begins (default: the policy's)");
  bench->callback([options, bench] { run_bench_command(*options, *bench); });
}

}  // namespace radiance::cli
