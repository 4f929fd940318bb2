// What the C interface says of a HIP runtime that is absent, too old, or has no gfx1201: a process
// each, whose loader finds one of the runtimes that fake_hip.c makes.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <string>

#include "../open_device.hpp"

namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

using radiance::test::Outcome;

// folder: of the runtime that the loader is to find first.
Outcome open_with(const std::string& folder) {
  return radiance::test::open_device_with(RADIANCE_OPEN_DEVICE, RADIANCE_FAKES "/" + folder,
                                          "hip:0");
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
