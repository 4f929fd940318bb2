// CudaDevice on a GPU; skipped where there is none.
#include "runtime/cuda_device.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <vector>

namespace radiance {
namespace {

class CudaDeviceTest : public ::testing::Test {
 protected:
  void SetUp() override {
    try {
      device_ = std::make_unique<CudaDevice>("cuda:0", 0);
    } catch (const Error& error) {
      GTEST_SKIP() << "needs a Hopper GPU: " << error.what();
    }
  }

  std::vector<uint8_t> bytes_of(const Buffer& buffer) {
    std::vector<uint8_t> bytes(buffer.bytes());
    device_->download(bytes.data(), buffer.get(), bytes.size());
    return bytes;
  }

  std::unique_ptr<CudaDevice> device_;
};

TEST_F(CudaDeviceTest, DescribesItself) {
  EXPECT_EQ(device_->info().arch, "sm90");
  EXPECT_GT(device_->info().units, 100);
  EXPECT_GT(device_->info().last_cache_bytes, uint64_t{1} << 25);
  EXPECT_TRUE(device_->captures());
}

TEST_F(CudaDeviceTest, ARecordedGraphRunsWhenItIsLaunched) {
  const Buffer buffer(*device_, 4096);
  device_->fill(buffer.get(), 1, 4096, nullptr);
  device_->synchronize(nullptr);
  const std::unique_ptr<Graph> graph = device_->capture([&](StreamHandle stream) {
    device_->fill(buffer.get(), 2, 4096, stream);
    device_->fill(buffer.get(), 3, 1024, stream);
  });
  EXPECT_THAT(bytes_of(buffer), ::testing::Each(1)) << "recording runs nothing";
  const StreamHandle stream = device_->create_stream();
  for (int time = 0; time < 2; ++time) {
    device_->fill(buffer.get(), 1, 4096, stream);
    graph->launch(stream);
    device_->synchronize(stream);
    const std::vector<uint8_t> bytes = bytes_of(buffer);
    EXPECT_EQ(std::count(bytes.begin(), bytes.begin() + 1024, 3), 1024);
    EXPECT_EQ(std::count(bytes.begin() + 1024, bytes.end(), 2), 3072);
  }
  device_->destroy_stream(stream);
}

TEST_F(CudaDeviceTest, WorkThatThrowsLeavesNoStreamRecording) {
  const Buffer buffer(*device_, 256);
  EXPECT_THROW(device_->capture([&](StreamHandle stream) {
    device_->fill(buffer.get(), 2, 256, stream);
    throw Error(RADIANCE_INVALID_ARGUMENT, "in the middle");
  }),
               Error);
  const std::unique_ptr<Graph> graph =
      device_->capture([&](StreamHandle stream) { device_->fill(buffer.get(), 4, 256, stream); });
  graph->launch(nullptr);
  device_->synchronize(nullptr);
  EXPECT_THAT(bytes_of(buffer), ::testing::Each(4));
}

TEST_F(CudaDeviceTest, EventsTimeWhatLiesBetween) {
  const Buffer buffer(*device_, size_t{256} << 20);
  const StreamHandle stream = device_->create_stream();
  const EventHandle first = device_->create_event(), second = device_->create_event();
  device_->record(first, stream);
  for (int i = 0; i < 8; ++i) device_->fill(buffer.get(), i, buffer.bytes(), stream);
  device_->record(second, stream);
  EXPECT_GT(device_->elapsed_us(first, second), 100);  // 2 GB at no more than 20 TB a second
  device_->destroy_event(first);
  device_->destroy_event(second);
  device_->destroy_stream(stream);
}

}  // namespace
}  // namespace radiance
