// What the C interface says of a CUDA driver that is absent, too old, or has no Hopper: a process
// each, whose loader finds one of the drivers that fake_cuda.c makes.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "../open_device.hpp"

namespace {

using radiance::test::Outcome;
using ::testing::HasSubstr;

// folder: of the driver that the loader is to find first.
Outcome open_with(const std::string& folder) {
  return radiance::test::open_device_with(RADIANCE_OPEN_DEVICE, RADIANCE_FAKES "/" + folder,
                                          "cuda:0");
}

TEST(CudaDriver, WithAnOlderGpuIsUnsupported) {
  const Outcome outcome = open_with("ampere");
  EXPECT_EQ(outcome.exit_status, 1);
  EXPECT_EQ(
      outcome.line,
      "unsupported: device \"cuda:0\" (GeForce of another kind) is sm_80; the kernels are for "
      "sm_90a (Hopper)\n");
}

TEST(CudaDriver, WithANewerGpuIsUnsupported) {
  const Outcome outcome = open_with("blackwell");
  EXPECT_EQ(outcome.exit_status, 1);
  EXPECT_THAT(outcome.line, HasSubstr("is sm_100; the kernels are for sm_90a (Hopper)"));
}

TEST(CudaDriver, TooOldNamesWhatItLacks) {
  const Outcome outcome = open_with("too_old");
  EXPECT_EQ(outcome.exit_status, 1);
  EXPECT_EQ(outcome.line,
            "no device: the CUDA driver is too old: it lacks cuTensorMapEncodeTiled\n");
}

TEST(CudaDriver, WithoutAGpuSaysSo) {
  const Outcome outcome = open_with("no_gpu");
  EXPECT_EQ(outcome.exit_status, 1);
  EXPECT_EQ(outcome.line, "no device: device \"cuda:0\" is not here: the driver shows 0 GPU(s)\n");
}

TEST(CudaDriver, ThatDoesNotStartSaysWhy) {
  const Outcome outcome = open_with("broken");
  EXPECT_EQ(outcome.exit_status, 1);
  EXPECT_EQ(outcome.line, "no device: the CUDA driver does not start: said the driver\n");
}

TEST(CudaDriver, ThatTakesNoKernelSaysWhatWasDone) {
  const Outcome outcome = open_with("no_kernels");
  EXPECT_EQ(outcome.exit_status, 1);
#if RADIANCE_HAVE_SM90
  EXPECT_EQ(outcome.line, "device error: CUDA, loading a module: said the driver\n");
#else
  EXPECT_THAT(outcome.line, HasSubstr("this build has no kernels for device \"cuda:0\""));
#endif
}

TEST(CudaDriver, AbsentSaysWhatIsMissing) {
  const Outcome outcome = open_with("nothing");
  if (outcome.line.find("is not installed") == std::string::npos) {
    GTEST_SKIP() << "a CUDA driver is installed: " << outcome.line;
  }
  EXPECT_EQ(outcome.exit_status, 1);
  EXPECT_EQ(outcome.line, "no device: the CUDA driver (libcuda.so.1) is not installed\n");
}

}  // namespace
