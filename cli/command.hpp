// The subcommands of `radiance`, one file each.
#pragma once

#include <CLI/CLI.hpp>

namespace radiance::cli {

// Each declares its subcommand on `app`. Its callback sets *exit_status: 0 good, 1 a check failed.
// It throws radiance::Error for bad usage or input: main prints the sentence and exits with 2.
void add_devices(CLI::App& app, int* exit_status);
void add_table(CLI::App& app, int* exit_status);
void add_gate(CLI::App& app, int* exit_status);
void add_bench(CLI::App& app, int* exit_status);
void add_compare(CLI::App& app, int* exit_status);
void add_sweep(CLI::App& app, int* exit_status);
void add_ablate(CLI::App& app, int* exit_status);
void add_probe(CLI::App& app, int* exit_status);
void add_census(CLI::App& app, int* exit_status);
void add_inspect(CLI::App& app, int* exit_status);
void add_quantize(CLI::App& app, int* exit_status);

}  // namespace radiance::cli
