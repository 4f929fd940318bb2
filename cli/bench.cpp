// radiance bench: time, bandwidth and share of the roofline.
#include "lab/bench.hpp"

#include <fmt/format.h>

#include <cstdio>
#include <memory>

#include "cli/bench_options.hpp"
#include "cli/command.hpp"
#include "lab/elements.hpp"
#include "lab/slow_cells.hpp"

namespace radiance::cli {

namespace {

std::vector<std::string> cells(const lab::BenchRow& row) {
  const lab::Roofline roof = row.roof();
  std::vector<std::string> all = {row.shape.name,
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
  for (const lab::RivalResult& rival : row.rivals) {
    all.push_back(us_text(rival.us));
    all.push_back(fmt::format("{:.3f}", rival.ratio));
  }
  return all;
}

std::string line(const lab::BenchRow& row) {
  std::string text =
      fmt::format("{} {} {} {} M={} {} us, {} of probe, {:.1f} TFLOP/s", row.shape.name,
                  lab::format_name(row.format), lab::scope_name(row.scope), row.config, row.m,
                  us_text(row.us), percent_text(row.fraction()), row.tflops());
  for (const lab::RivalResult& rival : row.rivals) {
    text += fmt::format("; {} {} us ({:.1f} TFLOP/s, ours / theirs {:.3f})", rival.name,
                        us_text(rival.us), rival.tflops, rival.ratio);
  }
  return text;
}

void print_slow_cells(const std::vector<lab::SlowCell>& slow) {
  if (slow.empty()) {
    fmt::print(
        "no cell of M up to {} is slower than a rival or by more than {:.0f} % than the next "
        "larger M\n",
        lab::kBetweenRows, 100 * (lab::kNextAllowance - 1));
    return;
  }
  fmt::print("cells slower than the best rival, or by more than {:.0f} % than the next larger M:\n",
             100 * (lab::kNextAllowance - 1));
  TextTable table({"shape", "format", "scope", "config", "against", "M", "us", "other us", "ratio"},
                  5);
  for (const lab::SlowCell& cell : slow) {
    table.add({cell.row->shape.name, lab::format_name(cell.row->format),
               lab::scope_name(cell.row->scope), cell.row->config, cell.against,
               std::to_string(cell.row->m), us_text(cell.row->us), us_text(cell.other_us),
               fmt::format("{:.3f}", cell.ratio())});
  }
  table.print();
}

nlohmann::json report(const std::vector<lab::BenchRow>& rows, bool rivals) {
  nlohmann::json data = lab::to_json(rows);
  if (rivals) data["slow_cells"] = lab::to_json(lab::slow_cells(rows));
  return data;
}

void run_bench_command(const BenchCommandOptions& options, const CLI::App& app) {
  const lab::BenchOptions bench = to_bench_options(options);
  const Engine engine(options.common.device, options.common.device_options());
  print_bench_heading(engine, bench);
  Progress progress;
  std::vector<lab::BenchRow> so_far;
  lab::BenchEvents events;
  events.on_progress = [&](const std::string& what) {
    progress.show("bench: " + what);
    // A long run that is cut short leaves the shapes that it finished.
    if (so_far.empty()) return;
    write_report(options.common, app, bench.seed, &engine.device(), report(so_far, bench.rivals));
  };
  events.on_row = [&](const lab::BenchRow& row) {
    so_far.push_back(row);
    progress.show(fmt::format("bench: {} M={} {}", row.shape.name, row.m, us_text(row.us)));
    if (!options.verbose) return;
    progress.clear();
    fmt::print("{}\n", line(row));
    std::fflush(stdout);
  };
  std::vector<lab::BenchRow> rows;
  try {
    rows = lab::run_bench(engine, bench, events);
  } catch (const Error&) {
    // A device that failed has taken nothing of what was measured before.
    progress.clear();
    if (!so_far.empty()) {
      write_report(options.common, app, bench.seed, &engine.device(), report(so_far, bench.rivals));
    }
    throw;
  }
  progress.clear();
  if (!rows.empty() && !rows.front().counters.is_null()) {
    print_counters(rows);
    write_report(options.common, app, bench.seed, &engine.device(), lab::to_json(rows));
    return;
  }
  std::vector<std::string> headings = {"shape",      "format",      "scope",   "config",
                                       "M",          "us",          "spread",  "GB/s",
                                       "probe",      "of probe",    "GFLOP/s", "memory us",
                                       "compute us", "of roofline", "samples", "refused"};
  if (!rows.empty()) {
    for (const lab::RivalResult& rival : rows.front().rivals) {
      headings.push_back(rival.name + " us");
      headings.emplace_back("ours / it");
    }
  }
  TextTable table(headings, 4);
  for (const lab::BenchRow& row : rows) table.add(cells(row));
  table.print();
  print_bench_notes(rows);
  if (bench.rivals) {
    fmt::print(
        "a rival's time is of its product alone, its activations quantized before, beside our "
        "product and beside our whole operation\n");
    print_slow_cells(lab::slow_cells(rows));
  }
  write_report(options.common, app, bench.seed, &engine.device(), report(rows, bench.rivals));
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
  bench->add_flag("--rivals", options->rivals,
                  "on cuda:N: cuBLASLt's fp8 and bf16 products in the same loop, and which cells "
                  "are slower than they or than the next larger M");
  bench->add_flag("-v,--verbose", options->verbose, "a line for every row as it is measured");
  bench->callback([options, bench] { run_bench_command(*options, *bench); });
}

}  // namespace radiance::cli
