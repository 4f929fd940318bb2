// radiance gate: correctness against fp64.
#include "lab/gate.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <memory>

#include "cli/command.hpp"
#include "cli/common.hpp"
#include "lab/elements.hpp"

namespace radiance::cli {

namespace {

struct Options {
  CommonOptions common;
  std::string suites, model;
  bool every_layer = false, verbose = false;
  int fuzz_cases = 0;
};

std::string describe(const lab::CaseResult& result) {
  std::string line =
      fmt::format("{} {}: {} {} M={} N={} K={} group={} {}{}", result.suite, result.name,
                  lab::format_name(result.format), result.config, result.m, result.n, result.k,
                  result.group, lab::dtype_name(result.out_dtype), result.bias ? " bias" : "");
  if (result.status != lab::Status::kSkipped) {
    line += fmt::format(", rel {:.2e}, max_elem {:.3f}", result.rel, result.max_elem);
  }
  line += fmt::format(", {}", lab::status_name(result.status));
  if (!result.reason.empty()) line += ": " + result.reason;
  if (!result.note.empty()) line += " (" + result.note + ")";
  return line;
}

// What a table's line says about some cases: how many, and the worst of them.
struct Summary {
  int64_t cases = 0, passed = 0, failed = 0, skipped = 0;
  double rel = 0, max_elem = 0;

  void count(const lab::CaseResult& result) {
    ++cases;
    passed += result.status == lab::Status::kPassed;
    failed += result.status == lab::Status::kFailed;
    skipped += result.status == lab::Status::kSkipped;
    rel = std::max(rel, result.rel);
    max_elem = std::max(max_elem, result.max_elem);
  }
  std::string status() const { return failed > 0 ? "failed" : passed > 0 ? "passed" : "skipped"; }
};

void print_suites(const std::vector<lab::CaseResult>& results) {
  TextTable table({"suite", "passed", "failed", "skipped", "worst rel", "worst max_elem"}, 1);
  for (const std::string& suite : lab::Gate::suite_names()) {
    Summary summary;
    for (const lab::CaseResult& result : results) {
      if (result.suite == suite) summary.count(result);
    }
    if (summary.cases == 0) continue;
    table.add({suite, std::to_string(summary.passed), std::to_string(summary.failed),
               std::to_string(summary.skipped), fmt::format("{:.2e}", summary.rel),
               fmt::format("{:.3f}", summary.max_elem)});
  }
  table.print();
}

// A line for each layer of suite model.
void print_layers(const std::vector<lab::CaseResult>& results) {
  TextTable table({"layer", "format", "N", "K", "group", "negative", "rel", "max_elem", "status"},
                  2);
  for (size_t first = 0; first < results.size();) {
    const lab::CaseResult& layer = results[first];
    Summary summary;
    size_t last = first;
    while (last < results.size() && results[last].suite == layer.suite &&
           results[last].name == layer.name) {
      summary.count(results[last++]);
    }
    if (layer.suite == "model") {
      table.add(
          {layer.name, lab::format_name(layer.format), std::to_string(layer.n),
           std::to_string(layer.k), std::to_string(layer.group),
           layer.negative_scales < 0 ? "-" : fmt::format("{:.1f} %", 100 * layer.negative_scales),
           fmt::format("{:.2e}", summary.rel), fmt::format("{:.3f}", summary.max_elem),
           summary.status()});
    }
    first = last;
  }
  if (!table.empty()) table.print();
}

void run_gate(const Options& options, const CLI::App& app, int* exit_status) {
  lab::GateOptions gate_options;
  gate_options.device = options.common.device;
  gate_options.device_options = options.common.device_options();
  gate_options.seed = options.common.seed_or_clock();
  if (!options.suites.empty()) gate_options.suites = split_list("--suite", options.suites);
  gate_options.model = options.model;
  gate_options.every_layer = options.every_layer;
  gate_options.fuzz_cases = options.fuzz_cases;

  Progress progress;
  lab::GateEvents events;
  events.on_progress = [&](const std::string& what) { progress.show("gate: " + what); };
  events.on_case = [&](const lab::CaseResult& result) {
    if (!options.verbose && result.status == lab::Status::kPassed) return;
    progress.clear();
    fmt::print("{}\n", describe(result));
    std::fflush(stdout);
  };
  lab::Gate gate(gate_options, events);
  const DeviceInfo& info = gate.engine().device().info();
  fmt::print("{} ({}), {}, {} {}; seed {}\n", info.name, info.description, info.arch, info.units,
             info.units == 1 ? "unit" : "units", gate_options.seed);
  gate.run();
  progress.clear();

  print_layers(gate.results());
  print_suites(gate.results());
  write_report(options.common, app, gate_options.seed, &gate.engine().device(), gate.to_json());
  const int64_t skipped = gate.count(lab::Status::kSkipped);
  fmt::print("{} passed, {} failed{}\n", gate.count(lab::Status::kPassed),
             gate.count(lab::Status::kFailed),
             skipped > 0 ? fmt::format(", {} skipped", skipped) : "");
  *exit_status = gate.count(lab::Status::kFailed) > 0 ? 1 : 0;
}

}  // namespace

void add_gate(CLI::App& app, int* exit_status) {
  auto options = std::make_shared<Options>();
  options->fuzz_cases = lab::GateOptions().fuzz_cases;
  CLI::App* gate = app.add_subcommand("gate", "correctness against an fp64 reference");
  add_common_options(*gate, options->common, true);
  std::string names;
  for (const std::string& name : lab::Gate::suite_names()) {
    names += (names.empty() ? "" : ",") + name;
  }
  gate->add_option("--suite", options->suites,
                   "suites to run, of " + names + " (default: all but model)");
  gate->add_option("--model", options->model,
                   "a checkpoint's directory: run its quantized layers on their own weights, the "
                   "first of each shape and scheme");
  gate->add_flag("--every-layer", options->every_layer, "with --model: every quantized layer");
  gate->add_option("--fuzz-cases", options->fuzz_cases, "cases of suite fuzz")
      ->check(CLI::Range(1, 1000000));
  gate->add_flag("-v,--verbose", options->verbose, "a line for every case");
  gate->callback([options, gate, exit_status] { run_gate(*options, *gate, exit_status); });
}

}  // namespace radiance::cli
