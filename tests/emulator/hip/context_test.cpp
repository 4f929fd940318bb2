// Contexts, flags and peers of a runtime with one device.
#include <thread>

#include "tests/emulator/hip/hip_fixture.hpp"

namespace radiance::emulator {
namespace {

using Contexts = HipTest;

TEST_F(Contexts, FollowTheStackOfAThread) {
  hipCtx_t primary = nullptr, first = nullptr, second = nullptr, now = nullptr;
  ASSERT_EQ(hipDevicePrimaryCtxRetain(&primary, 0), hipSuccess);
  ASSERT_EQ(hipCtxGetCurrent(&now), hipSuccess);
  EXPECT_EQ(now, primary);
  ASSERT_EQ(hipCtxCreate(&first, 4, 0), hipSuccess);
  ASSERT_EQ(hipCtxCreate(&second, 0, 0), hipSuccess);
  EXPECT_NE(first, second);
  ASSERT_EQ(hipCtxGetCurrent(&now), hipSuccess);
  EXPECT_EQ(now, second);
  std::thread([&] {
    hipCtx_t other = nullptr;
    EXPECT_EQ(hipCtxGetCurrent(&other), hipSuccess);
    EXPECT_EQ(other, primary) << "another thread has a stack of its own";
  }).join();
  ASSERT_EQ(hipCtxPopCurrent(&now), hipSuccess);
  EXPECT_EQ(now, second);
  unsigned flags = 0, version = 0;
  int device = -1;
  ASSERT_EQ(hipCtxGetFlags(&flags), hipSuccess);
  EXPECT_EQ(flags, 4U) << "of the first";
  EXPECT_EQ(hipCtxGetApiVersion(first, &version), hipSuccess);
  EXPECT_EQ(hipCtxGetDevice(&device), hipSuccess);
  EXPECT_EQ(device, 0);
  ASSERT_EQ(hipCtxSetCurrent(second), hipSuccess);
  ASSERT_EQ(hipCtxPushCurrent(first), hipSuccess);
  EXPECT_EQ(hipCtxSynchronize(), hipSuccess);
  ASSERT_EQ(hipCtxDestroy(first), hipSuccess);
  ASSERT_EQ(hipCtxGetCurrent(&now), hipSuccess);
  EXPECT_EQ(now, second);
  ASSERT_EQ(hipCtxDestroy(second), hipSuccess);
  EXPECT_EQ(hipCtxDestroy(second), hipErrorInvalidContext);
  EXPECT_EQ(hipCtxPushCurrent(second), hipErrorInvalidContext);
  EXPECT_EQ(hipCtxPopCurrent(&now), hipErrorInvalidContext);
  EXPECT_EQ(hipCtxCreate(&first, 0, 1), hipErrorInvalidDevice);
  EXPECT_EQ(hipDevicePrimaryCtxRelease(0), hipSuccess);
}

TEST_F(Contexts, KeepTheDevicesFlags) {
  unsigned flags = 1;
  int active = -1;
  ASSERT_EQ(hipGetDeviceFlags(&flags), hipSuccess);
  EXPECT_EQ(flags, 0U);
  ASSERT_EQ(hipSetDeviceFlags(4), hipSuccess);
  ASSERT_EQ(hipDevicePrimaryCtxGetState(0, &flags, &active), hipSuccess);
  EXPECT_EQ(flags, 4U);
  EXPECT_EQ(active, 0);
  EXPECT_EQ(hipSetDeviceFlags(1 << 10), hipErrorInvalidValue);
  ASSERT_EQ(hipDevicePrimaryCtxSetFlags(0, 0), hipSuccess);
  ASSERT_EQ(hipGetDeviceFlags(&flags), hipSuccess);
  EXPECT_EQ(flags, 0U);
  EXPECT_EQ(hipDevicePrimaryCtxRelease(0), hipErrorInvalidContext) << "was not retained";
}

TEST_F(Contexts, HaveNoPeers) {
  int can = 1;
  ASSERT_EQ(hipDeviceCanAccessPeer(&can, 0, 0), hipSuccess);
  EXPECT_EQ(can, 0);
  EXPECT_EQ(hipDeviceCanAccessPeer(&can, 0, 1), hipErrorInvalidDevice);
  EXPECT_EQ(hipDeviceEnablePeerAccess(1, 0), hipErrorInvalidDevice);
  // A copy between devices is one within the only one.
  const int* from = upload(std::vector<int>{1, 2, 3});
  int* to = upload(std::vector<int>(3));
  ASSERT_EQ(hipMemcpyPeer(to, 0, from, 0, 8), hipSuccess);
  EXPECT_THAT(download(to, 3), testing::ElementsAre(1, 2, 0));
  ASSERT_EQ(hipMemcpyPeerAsync(to + 2, 0, from, 0, 4, nullptr), hipSuccess);
  EXPECT_THAT(download(to, 3), testing::ElementsAre(1, 2, 1));
  EXPECT_EQ(hipMemcpyPeer(to, 0, from, 1, 4), hipErrorInvalidDevice);
  EXPECT_EQ(hipMemcpyPeer(to, 0, from, 0, 16), hipErrorInvalidValue);
}

}  // namespace
}  // namespace radiance::emulator
