// Opens a device in a process of its own, whose loader is sent to a folder first.
#pragma once

#include <sys/wait.h>

#include <cstdio>
#include <cstdlib>
#include <string>

namespace radiance::test {

struct Outcome {
  int exit_status = -1;
  std::string line;
};

// program: open_device.c's; folder: of the library that the loader is to find first.
inline Outcome open_device_with(const std::string& program, const std::string& folder,
                                const std::string& device) {
  const std::string command = "LD_LIBRARY_PATH='" + folder +
                              "'${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH} '" + program + "' " + device;
  Outcome outcome;
  FILE* const pipe = popen(command.c_str(), "r");
  if (pipe == nullptr) return outcome;
  char text[1024];
  while (std::fgets(text, sizeof(text), pipe) != nullptr) outcome.line += text;
  const int status = pclose(pipe);
  outcome.exit_status = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  return outcome;
}

}  // namespace radiance::test
