// Graphs: what a stream captures runs when the graph is launched, each time, and not before.
#include <thread>

#include "tests/emulator/hip/hip_fixture.hpp"

namespace radiance::emulator {
namespace {

constexpr int kCount = 64;

class Capture : public HipTest {
 protected:
  void SetUp() override {
    HipTest::SetUp();
    ASSERT_EQ(hipStreamCreate(&stream_), hipSuccess);
    ASSERT_EQ(hipStreamCreate(&other_), hipSuccess);
    ASSERT_EQ(hipStreamCreate(&reader_), hipSuccess);
    ASSERT_EQ(hipEventCreate(&forked_), hipSuccess);
    ASSERT_EQ(hipEventCreate(&joined_), hipSuccess);
    data_ = upload(std::vector<float>(kCount, 1.0F));
  }

  // data = data + data
  hipError_t twice(hipStream_t stream) {
    return launch_1d(kernel("add"), 1, kCount, stream, data_, data_, data_, kCount);
  }

  // By a stream that is not captured: a plain copy is not allowed meanwhile.
  float value() {
    float host = 0;
    EXPECT_EQ(hipMemcpyAsync(&host, data_, sizeof(host), hipMemcpyDeviceToHost, reader_),
              hipSuccess);
    EXPECT_EQ(hipStreamSynchronize(reader_), hipSuccess);
    return host;
  }

  hipStream_t stream_ = nullptr, other_ = nullptr, reader_ = nullptr;
  hipEvent_t forked_ = nullptr, joined_ = nullptr;
  float* data_ = nullptr;
};

TEST_F(Capture, RunsWhenTheGraphIsLaunched) {
  std::vector<float> out(kCount);
  hipGraph_t graph = nullptr;
  hipGraphExec_t executable = nullptr;
  ASSERT_EQ(hipStreamBeginCapture(stream_, hipStreamCaptureModeThreadLocal), hipSuccess);
  ASSERT_EQ(twice(stream_), hipSuccess);
  ASSERT_EQ(twice(stream_), hipSuccess);
  ASSERT_EQ(
      hipMemcpyAsync(out.data(), data_, kCount * sizeof(float), hipMemcpyDeviceToHost, stream_),
      hipSuccess);
  ASSERT_EQ(hipMemsetAsync(data_ + 1, 0, sizeof(float), stream_), hipSuccess);
  ASSERT_EQ(hipStreamEndCapture(stream_, &graph), hipSuccess);
  EXPECT_EQ(value(), 1.0F) << "nothing has run yet";
  ASSERT_EQ(hipGraphInstantiate(&executable, graph, nullptr, nullptr, 0), hipSuccess);
  ASSERT_EQ(hipGraphDestroy(graph), hipSuccess);
  ASSERT_EQ(hipGraphLaunch(executable, stream_), hipSuccess);
  EXPECT_EQ(value(), 4.0F);
  ASSERT_EQ(hipGraphLaunch(executable, nullptr), hipSuccess);
  EXPECT_EQ(value(), 16.0F);
  EXPECT_EQ(out[0], 16.0F);
  EXPECT_EQ(out[1], 0.0F);
  ASSERT_EQ(hipGraphExecDestroy(executable), hipSuccess);
  EXPECT_EQ(hipGraphLaunch(executable, stream_), hipErrorInvalidValue);
}

TEST_F(Capture, KeepsUnloadedCodeAlive) {
  hipGraph_t graph = nullptr;
  hipGraphExec_t executable = nullptr;
  ASSERT_EQ(hipStreamBeginCapture(stream_, hipStreamCaptureModeThreadLocal), hipSuccess);
  ASSERT_EQ(twice(stream_), hipSuccess);
  ASSERT_EQ(hipStreamEndCapture(stream_, &graph), hipSuccess);
  ASSERT_EQ(hipGraphInstantiate(&executable, graph, nullptr, nullptr, 0), hipSuccess);
  ASSERT_EQ(hipModuleUnload(module_), hipSuccess);
  ASSERT_EQ(hipGraphLaunch(executable, stream_), hipSuccess) << report();
  EXPECT_EQ(value(), 2.0F);
}

TEST_F(Capture, FollowsEventsToOtherStreams) {
  hipGraph_t graph = nullptr;
  hipGraphExec_t executable = nullptr;
  ASSERT_EQ(hipStreamBeginCapture(stream_, hipStreamCaptureModeThreadLocal), hipSuccess);
  ASSERT_EQ(hipEventRecord(forked_, stream_), hipSuccess);
  ASSERT_EQ(hipStreamWaitEvent(other_, forked_, 0), hipSuccess);
  ASSERT_EQ(twice(other_), hipSuccess);
  EXPECT_EQ(value(), 1.0F) << "the other stream is captured too";
  ASSERT_EQ(hipEventRecord(joined_, other_), hipSuccess);
  ASSERT_EQ(hipStreamWaitEvent(stream_, joined_, 0), hipSuccess);
  ASSERT_EQ(hipStreamEndCapture(stream_, &graph), hipSuccess) << report();
  ASSERT_EQ(twice(other_), hipSuccess);
  EXPECT_EQ(value(), 2.0F) << "the other stream runs again";
  ASSERT_EQ(hipGraphInstantiate(&executable, graph, nullptr, nullptr, 0), hipSuccess);
  ASSERT_EQ(hipGraphLaunch(executable, stream_), hipSuccess);
  EXPECT_EQ(value(), 4.0F);
}

TEST_F(Capture, RefusesStreamsThatWereNotJoined) {
  hipGraph_t graph = nullptr;
  ASSERT_EQ(hipStreamBeginCapture(stream_, hipStreamCaptureModeThreadLocal), hipSuccess);
  ASSERT_EQ(hipEventRecord(forked_, stream_), hipSuccess);
  ASSERT_EQ(hipStreamWaitEvent(other_, forked_, 0), hipSuccess);
  ASSERT_EQ(twice(other_), hipSuccess);
  EXPECT_EQ(hipStreamEndCapture(stream_, &graph), hipErrorStreamCaptureUnjoined);
  EXPECT_EQ(graph, nullptr);
}

// A forward that is to be captured may do none of these.
TEST_F(Capture, ForbidsWhatAllocatesOrWaits) {
  void* pointer = nullptr;
  float host = 0;
  hipGraph_t graph = nullptr;
  const auto refused = [&](const char* what, const auto& call) {
    ASSERT_EQ(hipStreamBeginCapture(stream_, hipStreamCaptureModeThreadLocal), hipSuccess);
    EXPECT_EQ(call(), hipErrorStreamCaptureUnsupported) << what;
    EXPECT_THAT(report(), testing::HasSubstr(what));
    EXPECT_EQ(hipStreamEndCapture(stream_, &graph), hipErrorStreamCaptureInvalidated) << what;
  };
  refused("hipMalloc", [&] { return hipMalloc(&pointer, 16); });
  refused("hipFree", [&] { return hipFree(data_); });
  refused("hipMemcpy", [&] { return hipMemcpy(&host, data_, 4, hipMemcpyDeviceToHost); });
  refused("hipMemset", [&] { return hipMemset(data_, 0, 4); });
  refused("hipStreamSynchronize", [&] { return hipStreamSynchronize(stream_); });
  refused("hipDeviceSynchronize", [&] { return hipDeviceSynchronize(); });
  EXPECT_EQ(twice(stream_), hipSuccess);
  EXPECT_EQ(value(), 2.0F) << "the stream works on";
}

// What a framework does around a call that it knows to be harmless.
TEST_F(Capture, AThreadMayExceptItself) {
  void* pointer = nullptr;
  hipGraph_t graph = nullptr;
  hipStreamCaptureMode mode = hipStreamCaptureModeRelaxed;
  ASSERT_EQ(hipStreamBeginCapture(stream_, hipStreamCaptureModeGlobal), hipSuccess);
  ASSERT_EQ(hipThreadExchangeStreamCaptureMode(&mode), hipSuccess);
  EXPECT_EQ(mode, hipStreamCaptureModeGlobal) << "what it was";
  EXPECT_EQ(hipMalloc(&pointer, 16), hipSuccess);
  ASSERT_EQ(hipThreadExchangeStreamCaptureMode(&mode), hipSuccess);
  EXPECT_EQ(mode, hipStreamCaptureModeRelaxed);
  EXPECT_EQ(hipStreamEndCapture(stream_, &graph), hipSuccess);
  std::thread([&] {  // forbidden to every thread that does not except itself
    ASSERT_EQ(hipStreamBeginCapture(stream_, hipStreamCaptureModeGlobal), hipSuccess);
    std::thread([&] {
      hipStreamCaptureMode own = hipStreamCaptureModeThreadLocal;
      EXPECT_EQ(hipThreadExchangeStreamCaptureMode(&own), hipSuccess);
      EXPECT_EQ(hipMalloc(&pointer, 16), hipSuccess);
      EXPECT_EQ(hipThreadExchangeStreamCaptureMode(&own), hipSuccess);
      EXPECT_EQ(hipMalloc(&pointer, 16), hipErrorStreamCaptureUnsupported);
    }).join();
    EXPECT_EQ(hipStreamEndCapture(stream_, &graph), hipErrorStreamCaptureInvalidated);
  })
      .join();
}

TEST_F(Capture, KnowsItsState) {
  hipGraph_t graph = nullptr;
  EXPECT_EQ(hipStreamBeginCapture(nullptr, hipStreamCaptureModeThreadLocal),
            hipErrorStreamCaptureUnsupported);
  EXPECT_EQ(hipStreamEndCapture(stream_, &graph), hipErrorIllegalState);
  ASSERT_EQ(hipStreamBeginCapture(stream_, hipStreamCaptureModeThreadLocal), hipSuccess);
  EXPECT_EQ(hipStreamBeginCapture(stream_, hipStreamCaptureModeThreadLocal), hipErrorIllegalState);
  EXPECT_EQ(hipStreamEndCapture(stream_, &graph), hipSuccess);
  EXPECT_EQ(hipGraphDestroy(graph), hipSuccess);
}

}  // namespace
}  // namespace radiance::emulator
