// radiance quantize: a quantized checkpoint from a float one, by rounding to nearest.
#include "checkpoint/quantize.hpp"

#include <fmt/core.h>
#include <chrono>
#include <csignal>
#include <map>
#include <memory>
#include <string>

#include "cli/command.hpp"
#include "cli/common.hpp"
#include "radiance/error.hpp"

namespace radiance::cli {

namespace {

struct Options {
  std::string source;
  std::string destination;
  CommonOptions common;  // --json alone: rounding needs no device
  QuantizeFormat format = QuantizeFormat::kAutoRound;
  int64_t group = 128;
  int threads = 0;
};

double gigabytes(uint64_t bytes) { return static_cast<double>(bytes) / 1e9; }

void print_report(const QuantizeReport& report, const Options& options, double seconds) {
  fmt::print("{:<48} {:>7} {:>7} {:>10} {:>10}\n", "layer", "N", "K", "rel error", "max error");
  for (const LayerError& layer : report.layers) {
    fmt::print("{:<48} {:>7} {:>7} {:>10.5f} {:>10.5f}\n", layer.name, layer.n, layer.k,
               layer.relative, layer.largest);
  }
  if (!report.kept.empty()) {
    fmt::print("\nkept at 16 bits (N or K no multiple of 32, or a router):\n");
    for (const auto& name : report.kept) fmt::print("  {}\n", name);
  }
  fmt::print(
      "\n{}: {} layers, relative error {:.5f} over all of them; {:.3f} GB from {:.3f} GB in {:.1f} "
      "s "
      "({} of {} shards were finished before)\n",
      options.destination, report.layers.size(), report.relative, gigabytes(report.written_bytes),
      gigabytes(report.source_bytes), seconds, report.shards_skipped, report.shards);
}

nlohmann::json report_json(const QuantizeReport& report, const Options& options, double seconds) {
  nlohmann::json json;
  json["path"] = options.destination;
  json["source"] = options.source;
  json["format"] = options.format == QuantizeFormat::kMxfp4 ? "mxfp4" : "autoround";
  json["group_size"] = options.format == QuantizeFormat::kMxfp4 ? 32 : options.group;
  json["relative_error"] = report.relative;
  json["source_bytes"] = report.source_bytes;
  json["written_bytes"] = report.written_bytes;
  json["seconds"] = seconds;
  json["shards"] = report.shards;
  json["shards_skipped"] = report.shards_skipped;
  json["kept"] = report.kept;
  nlohmann::json& layers = json["layers"] = nlohmann::json::array();
  for (const LayerError& layer : report.layers) {
    layers.push_back({{"name", layer.name},
                      {"N", layer.n},
                      {"K", layer.k},
                      {"relative_error", layer.relative},
                      {"largest_error", layer.largest}});
  }
  return json;
}

void run(const Options& options, const CLI::App& command) {
  // Past a file size limit a write should fail with a reason, as on a full disk, not with a signal.
  std::signal(SIGXFSZ, SIG_IGN);
  QuantizeOptions quantize_options;
  quantize_options.format = options.format;
  quantize_options.group = options.group;
  quantize_options.threads = options.threads;
  Progress progress;
  quantize_options.progress = [&](const QuantizeProgress& now) {
    progress.show(fmt::format("[{}/{}] {:.2f} of {:.2f} GB  {}", now.shards_done + 1, now.shards,
                              gigabytes(now.bytes_done), gigabytes(now.bytes), now.tensor));
  };
  const auto start = std::chrono::steady_clock::now();
  const QuantizeReport report =
      quantize_checkpoint(options.source, options.destination, quantize_options);
  progress.clear();
  const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - start;
  print_report(report, options, elapsed.count());
  write_report(options.common, command, 0, nullptr, report_json(report, options, elapsed.count()));
}

}  // namespace

void add_quantize(CLI::App& app, int* exit_status) {
  auto options = std::make_shared<Options>();
  CLI::App* command = app.add_subcommand("quantize",
                                         "round a bf16, fp16 or fp32 checkpoint to nearest; an "
                                         "interrupted run continues when repeated");
  command->add_option("source", options->source, "float checkpoint directory")->required();
  command->add_option("destination", options->destination, "new directory")->required();
  command->add_option("--format", options->format, "autoround (int4) or mxfp4")
      ->transform(CLI::CheckedTransformer(std::map<std::string, QuantizeFormat>{
          {"autoround", QuantizeFormat::kAutoRound}, {"mxfp4", QuantizeFormat::kMxfp4}}))
      ->default_str("autoround");
  const CLI::Option* group = command
                                 ->add_option("--group", options->group,
                                              "128, 64, 32, or -1 for one group of K; mxfp4 has 32")
                                 ->default_str("128");
  command->add_option("--threads", options->threads, "0: as many as the machine has");
  command->add_option("--json", options->common.json, "also write the report to this file");
  command->callback([options, command, group, exit_status] {
    if (options->format == QuantizeFormat::kMxfp4 && group->count() != 0 && options->group != 32) {
      throw Error(RADIANCE_INVALID_ARGUMENT,
                  fmt::format("--group is {}, supported by mxfp4 is 32", options->group));
    }
    run(*options, *command);
    *exit_status = 0;
  });
}

}  // namespace radiance::cli
