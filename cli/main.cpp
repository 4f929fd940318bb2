#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <exception>
#include <new>

#include "cli/command.hpp"

namespace {

constexpr int kBadUsage = 2;

int run(int argc, char** argv) {
  int exit_status = 0;
  CLI::App app{"Linear layers of AutoRound int4 checkpoints as W4A8 products", "radiance"};
  app.require_subcommand(1);
  radiance::cli::add_devices(app, &exit_status);
  radiance::cli::add_inspect(app, &exit_status);
  radiance::cli::add_table(app, &exit_status);
  radiance::cli::add_gate(app, &exit_status);
  radiance::cli::add_bench(app, &exit_status);
  radiance::cli::add_compare(app, &exit_status);
  radiance::cli::add_ablate(app, &exit_status);
  radiance::cli::add_sweep(app, &exit_status);
  radiance::cli::add_probe(app, &exit_status);
  radiance::cli::add_census(app, &exit_status);
  radiance::cli::add_quantize(app, &exit_status);
  // CLI11 would only say that a subcommand is required.
  const auto is_named = [&](const CLI::App* command) { return command->check_name(argv[1]); };
  if (argc > 1 && argv[1][0] != '-' && app.get_subcommands(is_named).empty()) {
    fmt::print(stderr, "radiance: there is no subcommand {}; see radiance --help\n", argv[1]);
    return kBadUsage;
  }
  try {
    app.parse(argc, argv);
  } catch (const CLI::Success& help) {
    return app.exit(help);
  }
  return exit_status;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return run(argc, argv);
  } catch (const std::bad_alloc&) {
    std::fputs("radiance: out of memory\n", stderr);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "radiance: %s\n", error.what());
  }
  return kBadUsage;
}
