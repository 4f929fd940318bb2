// radiance inspect: what a checkpoint actually is.
#include <fmt/core.h>

#include <memory>
#include <string>

#include "checkpoint/failure.hpp"
#include "checkpoint/inspection.hpp"
#include "cli/command.hpp"
#include "cli/common.hpp"

namespace radiance::cli {

namespace {

struct InspectOptions {
  std::string directory;
  CommonOptions common;  // --json alone: inspecting needs no device
  bool tensors = false;
  bool allow_problems = false;
};

void run(const InspectOptions& options, const CLI::App& command) {
  // Listing what is wrong is the job: refusing comes after the tables.
  const Checkpoint checkpoint = Checkpoint::open(options.directory, {.allow_problems = true});
  const Inspection inspection = inspect(checkpoint);
  fmt::print("{}", inspection_text(checkpoint, inspection, options.tensors));
  write_report(options.common, command, 0, nullptr, inspection_json(checkpoint, inspection));
  if (options.allow_problems) return;
  if (!checkpoint.problems().empty()) {
    throw Error(RADIANCE_BAD_INPUT,
                fmt::format("{}: {}{}", options.directory, checkpoint.problems().front(),
                            checkpoint.problems().size() == 1
                                ? std::string()
                                : fmt::format(" (and {} more problems, listed above)",
                                              checkpoint.problems().size() - 1)));
  }
  if (inspection.refused != 0) {
    throw Error(RADIANCE_UNSUPPORTED,
                fmt::format("{}: {} of {} quantized layers cannot be served, the first is {}",
                            options.directory, inspection.refused, inspection.quantized,
                            inspection.first_refusal));
  }
}

}  // namespace

void add_inspect(CLI::App& app, int* exit_status) {
  auto options = std::make_shared<InspectOptions>();
  CLI::App* command = app.add_subcommand(
      "inspect", "what a checkpoint actually is: packing, schemes, shapes, and what is wrong");
  command->add_option("directory", options->directory, "checkpoint directory")->required();
  command->add_option("--json", options->common.json, "also write the report to this file");
  command->add_flag("--tensors", options->tensors, "list every tensor");
  command->add_flag(
      "--allow-problems", options->allow_problems,
      "exit with 0 although there are unread parts, unfilled modules or refused layers");
  command->callback([options, command, exit_status] {
    run(*options, *command);
    *exit_status = 0;
  });
}

}  // namespace radiance::cli
