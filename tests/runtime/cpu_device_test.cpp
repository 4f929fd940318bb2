#include "runtime/cpu_device.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <thread>

namespace radiance {
namespace {

TEST(CpuDevice, MemoryIsAlignedAndWritable) {
  CpuDevice device("cpu", CpuArch::kPortable, 1);
  for (const size_t bytes : {size_t{1}, size_t{4097}, size_t{2} << 20, (size_t{5} << 20) + 1}) {
    void* data = device.allocate(bytes);
    EXPECT_EQ(reinterpret_cast<uintptr_t>(data) % 256, 0u);
    if (bytes >= size_t{2} << 20) {
      EXPECT_EQ(reinterpret_cast<uintptr_t>(data) % (size_t{2} << 20), 0u);
    }
    device.fill(data, 0x5a, bytes, nullptr);
    EXPECT_EQ(static_cast<unsigned char*>(data)[bytes - 1], 0x5a);
    device.release(data);
  }
}

TEST(CpuDevice, RefusesWhatCannotBe) {
  CpuDevice device("cpu", CpuArch::kPortable, 1);
  EXPECT_THROW(device.allocate(SIZE_MAX), Error);
  EXPECT_THROW(device.allocate(SIZE_MAX / 8), Error);
  device.release(nullptr);  // ignored
}

TEST(CpuDevice, CopiesAndTimes) {
  CpuDevice device("cpu", CpuArch::kPortable, 2);
  Buffer buffer(device, 16);
  const char text[16] = "fifteen letters";
  char back[16] = {};
  device.upload(buffer.get(), text, sizeof(text));
  device.download(back, buffer.get(), sizeof(back));
  EXPECT_STREQ(back, text);

  const EventHandle first = device.create_event(), second = device.create_event();
  device.record(first, nullptr);
  std::this_thread::sleep_for(std::chrono::milliseconds(2));
  device.record(second, nullptr);
  EXPECT_GE(device.elapsed_us(first, second), 2000.0);
  device.destroy_event(first);
  device.destroy_event(second);
}

TEST(CpuDevice, DescribesItself) {
  CpuDevice device("cpu", CpuArch::kPortable, 3);
  EXPECT_EQ(device.info().units, 3);
  EXPECT_EQ(device.info().arch, "portable");
  EXPECT_GT(device.info().memory_bytes, 0u);
  EXPECT_FALSE(device.info().description.empty());
}

TEST(Buffer, MovesItsMemory) {
  CpuDevice device("cpu", CpuArch::kPortable, 1);
  Buffer a(device, 64);
  void* data = a.get();
  Buffer b = std::move(a);
  EXPECT_EQ(b.get(), data);
  EXPECT_EQ(b.bytes(), 64u);
  b = Buffer(device, 32);
  EXPECT_EQ(b.bytes(), 32u);
}

}  // namespace
}  // namespace radiance
