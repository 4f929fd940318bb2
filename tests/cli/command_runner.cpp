#include "command_runner.hpp"

#include <sys/wait.h>

#include <cstdlib>

#include "tests/checkpoint/support.hpp"

namespace radiance::test {

namespace {

std::string shell_quoted(const std::string& text) {
  std::string out = "'";
  for (const char c : text) out += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return out + "'";
}

}  // namespace

CommandResult run_command(const std::vector<std::string>& arguments, const std::string& shell) {
  const TempDir dir;
  // The redirections are opened before the limits of `shell` apply.
  std::string line = "{ " + shell + shell_quoted(RADIANCE_COMMAND);
  for (const std::string& argument : arguments) line += " " + shell_quoted(argument);
  line += "; } > " + shell_quoted(dir / "out") + " 2> " + shell_quoted(dir / "err");
  const int status = std::system(line.c_str());
  return {WIFEXITED(status) ? WEXITSTATUS(status) : -1, read_file(dir / "out"),
          read_file(dir / "err")};
}

}  // namespace radiance::test
