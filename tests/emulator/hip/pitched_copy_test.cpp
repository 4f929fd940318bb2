// Copies and fills of rows and planes.
#include <numeric>

#include "tests/emulator/hip/hip_fixture.hpp"

namespace radiance::emulator {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using Bytes = std::vector<unsigned char>;
using PitchedCopy = HipTest;

TEST_F(PitchedCopy, CopiesRows) {
  const Bytes in = {1, 2, 0, 3, 4, 0};
  unsigned char* device = upload(Bytes(8));
  ASSERT_EQ(hipMemcpy2D(device, 4, in.data(), 3, 2, 2, hipMemcpyHostToDevice), hipSuccess);
  EXPECT_THAT(download(device, 8), ElementsAre(1, 2, 0, 0, 3, 4, 0, 0));
  EXPECT_EQ(hipMemcpy2D(device, 1, in.data(), 3, 2, 2, hipMemcpyHostToDevice),
            hipErrorInvalidPitchValue);
  EXPECT_EQ(hipMemcpy2D(device, 4, in.data(), 3, 2, 3, hipMemcpyHostToDevice),
            hipErrorInvalidValue);
  EXPECT_THAT(report(), HasSubstr("destination"));
}

TEST_F(PitchedCopy, FillsRows) {
  unsigned char* device = upload(Bytes(8, 7));
  ASSERT_EQ(hipMemset2D(device, 4, 1, 3, 2), hipSuccess);
  EXPECT_THAT(download(device, 8), ElementsAre(1, 1, 1, 7, 1, 1, 1, 7));
  ASSERT_EQ(hipMemset2DAsync(device + 4, 4, 2, 4, 1, nullptr), hipSuccess);
  EXPECT_THAT(download(device, 8), ElementsAre(1, 1, 1, 7, 2, 2, 2, 2));
  EXPECT_EQ(hipMemset2D(device, 4, 1, 5, 1), hipErrorInvalidPitchValue);
  EXPECT_EQ(hipMemset2D(device, 4, 1, 4, 3), hipErrorInvalidValue);
  EXPECT_EQ(hipMemset2D(nullptr, 4, 1, 4, 3), hipErrorInvalidValue);
  EXPECT_EQ(hipMemset2D(nullptr, 4, 1, 0, 3), hipSuccess) << "nothing to fill";
}

TEST_F(PitchedCopy, CopiesAndFillsPlanes) {
  constexpr size_t kWidth = 3, kHeight = 2, kDepth = 2;
  hipPitchedPtr memory{};
  const hipExtent all{kWidth, kHeight, kDepth};
  ASSERT_EQ(hipMalloc3D(&memory, all), hipSuccess);
  EXPECT_GE(memory.pitch, kWidth);
  EXPECT_EQ(memory.ysize, kHeight);
  ASSERT_EQ(hipMemset3D(memory, 9, all), hipSuccess);
  // Two of three bytes of the second row of both planes.
  Bytes in(kWidth * kHeight * kDepth);
  std::iota(in.begin(), in.end(), 0);
  hipMemcpy3DParms copy{};
  copy.srcPtr = {in.data(), kWidth, kWidth, kHeight};
  copy.srcPos = {0, 1, 0};
  copy.dstPtr = memory;
  copy.dstPos = {1, 1, 0};
  copy.extent = {2, 1, 2};
  copy.kind = hipMemcpyHostToDevice;
  ASSERT_EQ(hipMemcpy3D(&copy), hipSuccess) << report();
  Bytes out(in.size());
  hipMemcpy3DParms back{};
  back.srcPtr = memory;
  back.dstPtr = {out.data(), kWidth, kWidth, kHeight};
  back.extent = all;
  back.kind = hipMemcpyDeviceToHost;
  ASSERT_EQ(hipMemcpy3DAsync(&back, nullptr), hipSuccess);
  EXPECT_THAT(out, ElementsAre(9, 9, 9, 9, 3, 4, 9, 9, 9, 9, 9, 10));
  copy.dstPos = {1, 1, 1};
  EXPECT_EQ(hipMemcpy3D(&copy), hipErrorInvalidValue) << "a plane too many";
  copy.srcArray = reinterpret_cast<hipArray_t>(&memory);
  EXPECT_EQ(hipMemcpy3D(&copy), hipErrorNotSupported);
  EXPECT_EQ(hipMemcpy3D(nullptr), hipErrorInvalidValue);
}

TEST_F(PitchedCopy, IsRefusedOrRecordedInACapture) {
  unsigned char* device = upload(Bytes(4, 7));
  hipStream_t stream = nullptr;
  hipGraph_t graph = nullptr;
  hipGraphExec_t executable = nullptr;
  ASSERT_EQ(hipStreamCreate(&stream), hipSuccess);
  ASSERT_EQ(hipStreamBeginCapture(stream, hipStreamCaptureModeThreadLocal), hipSuccess);
  EXPECT_EQ(hipMemset2D(device, 2, 1, 1, 2), hipErrorStreamCaptureUnsupported);
  EXPECT_EQ(hipStreamEndCapture(stream, &graph), hipErrorStreamCaptureInvalidated);
  ASSERT_EQ(hipStreamBeginCapture(stream, hipStreamCaptureModeThreadLocal), hipSuccess);
  EXPECT_EQ(hipMemset2DAsync(device, 2, 1, 1, 2, stream), hipSuccess);
  ASSERT_EQ(hipStreamEndCapture(stream, &graph), hipSuccess);
  EXPECT_THAT(download(device, 4), ElementsAre(7, 7, 7, 7));
  ASSERT_EQ(hipGraphInstantiate(&executable, graph, nullptr, nullptr, 0), hipSuccess);
  ASSERT_EQ(hipGraphLaunch(executable, stream), hipSuccess);
  EXPECT_THAT(download(device, 4), ElementsAre(1, 7, 1, 7));
}

}  // namespace
}  // namespace radiance::emulator
