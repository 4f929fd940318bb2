// What the C interface says of a HIP runtime that is absent, too old, or has no gfx1201: a process
// each, whose loader finds one of the runtimes that fake_hip.c makes.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>

#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>

namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

struct Outcome {
  int exit_status = -1;
  std::string line;
};

// folder: of the runtime that the loader is to find first.
Outcome open_with(const std::string& folder) {
  const std::string command = "LD_LIBRARY_PATH='" RADIANCE_FAKES "/" + folder +
                              "'${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH} '" RADIANCE_OPEN_HIP "'";
  Outcome outcome;
  FILE* const pipe = popen(command.c_str(), "r");
  if (pipe == nullptr) return outcome;
  char text[1024];
  while (std::fgets(text, sizeof(text), pipe) != nullptr) outcome.line += text;
  const int status = pclose(pipe);
  outcome.exit_status = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  return outcome;
}

TEST(HipRuntime, OfAnotherArchitectureIsUnsupported) {
  const Outcome outcome = open_with("other_arch");
  EXPECT_EQ(outcome.exit_status, 1);
  EXPECT_THAT(outcome.line, StartsWith("unsupported: "));
  EXPECT_THAT(outcome.line, HasSubstr("\"hip:0\" (Radeon of another kind) is gfx1100"));
  EXPECT_THAT(outcome.line, HasSubstr("the kernels are for gfx1201"));
}

TEST(HipRuntime, TooOldNamesWhatItLacks) {
  const Outcome outcome = open_with("too_old");
  EXPECT_EQ(outcome.exit_status, 1);
  EXPECT_EQ(outcome.line,
            "no device: the HIP runtime is too old: it lacks hipStreamBeginCapture\n");
}

TEST(HipRuntime, WithoutAGpuSaysSo) {
  const Outcome outcome = open_with("no_gpu");
  EXPECT_EQ(outcome.exit_status, 1);
  EXPECT_EQ(outcome.line,
            "no device: device \"hip:0\" is not here: the HIP runtime shows 0 GPU(s)\n");
}

TEST(HipRuntime, ThatDoesNotStartSaysWhy) {
  const Outcome outcome = open_with("broken");
  EXPECT_EQ(outcome.exit_status, 1);
  EXPECT_EQ(outcome.line, "no device: the HIP runtime does not start: said the runtime\n");
}

TEST(HipRuntime, AbsentSaysWhatIsMissing) {
  const Outcome outcome = open_with("nothing");
  // Of this build tree's emulator, which has ROCm's name, the loader knows nothing here.
  if (!outcome.line.starts_with("no device: the HIP runtime (")) {
    GTEST_SKIP() << "a HIP runtime is installed: " << outcome.line;
  }
  EXPECT_EQ(outcome.exit_status, 1);
  EXPECT_THAT(outcome.line, HasSubstr("libamdhip64.so.7 or .so.6, of ROCm) is not installed"));
}

}  // namespace
