// Runs the radiance command in a process of its own.
#pragma once

#include <string>
#include <vector>

namespace radiance::test {

struct CommandResult {
  int status = -1;     // exit status; -1 when it was ended by a signal
  std::string output;  // stdout
  std::string errors;  // stderr
};

// `shell` goes before the command in the shell's line: "ulimit -f 8; ".
CommandResult run_command(const std::vector<std::string>& arguments, const std::string& shell = "");

}  // namespace radiance::test
