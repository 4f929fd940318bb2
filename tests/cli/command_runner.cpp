#include "command_runner.hpp"

#include <fmt/core.h>
#include <sys/wait.h>

#include <cstdlib>

#include "tests/checkpoint/support.hpp"

namespace radiance::test {

namespace {

std::string shell_quoted(const std::string& text) {
  std::string escaped;
  for (const char c : text) {
    if (c == '\'') {
      escaped += "'\\''";
    } else {
      escaped += c;
    }
  }
  return fmt::format("'{}'", escaped);
}

}  // namespace

CommandResult run_command(const std::vector<std::string>& arguments, const std::string& shell) {
  const TempDir dir;
  // The redirections are opened before the limits of `shell` apply.
  std::string command = shell_quoted(RADIANCE_COMMAND);
  for (const std::string& argument : arguments) command += ' ' + shell_quoted(argument);
  const std::string line = fmt::format("{{ {}{}; }} > {} 2> {}", shell, command,
                                       shell_quoted(dir / "out"), shell_quoted(dir / "err"));
  const int status = std::system(line.c_str());
  return {WIFEXITED(status) ? WEXITSTATUS(status) : -1, read_file(dir / "out"),
          read_file(dir / "err")};
}

}  // namespace radiance::test
