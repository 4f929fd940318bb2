// The subcommands: one file each, registered by main.
#pragma once

#include <CLI/CLI.hpp>

namespace radiance::cli {

// Each subcommand registers itself on the app; its callback sets *exit_status (0 good, 1 a check
// failed); errors are thrown as radiance::Error, and main turns them into one sentence on stderr and
// exit status 2. *exit_status must outlive the parse.
void add_inspect(CLI::App& app, int* exit_status);
void add_quantize(CLI::App& app, int* exit_status);

}  // namespace radiance::cli
