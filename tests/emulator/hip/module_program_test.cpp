// A C++ program against HIP's module API, as one would write it for a card.
#include <cstring>
#include <numeric>
#include <thread>

#include "tests/emulator/hip/hip_fixture.hpp"

namespace radiance::emulator {
namespace {

using ModuleProgram = HipTest;

constexpr int kCount = 1000;

std::vector<float> numbers(float step) {
  std::vector<float> values(kCount);
  for (int i = 0; i < kCount; ++i) values[static_cast<size_t>(i)] = step * static_cast<float>(i);
  return values;
}

TEST_F(ModuleProgram, AddsTwoVectors) {
  const std::vector<float> a = numbers(1), b = numbers(0.5F);
  std::vector<float> out(kCount);
  hipStream_t stream = nullptr;
  hipEvent_t first = nullptr, second = nullptr;
  ASSERT_EQ(hipStreamCreateWithFlags(&stream, hipStreamNonBlocking), hipSuccess);
  ASSERT_EQ(hipEventCreate(&first), hipSuccess);
  ASSERT_EQ(hipEventCreate(&second), hipSuccess);
  void *device_a = nullptr, *device_b = nullptr, *device_out = nullptr;
  constexpr size_t kBytes = kCount * sizeof(float);
  for (void** pointer : {&device_a, &device_b, &device_out}) {
    ASSERT_EQ(hipMalloc(pointer, kBytes), hipSuccess);
  }
  ASSERT_EQ(hipMemcpyAsync(device_a, a.data(), kBytes, hipMemcpyHostToDevice, stream), hipSuccess);
  ASSERT_EQ(hipMemcpyAsync(device_b, b.data(), kBytes, hipMemcpyHostToDevice, stream), hipSuccess);
  ASSERT_EQ(hipEventRecord(first, stream), hipSuccess);
  ASSERT_EQ(launch_1d(kernel("add"), 4, 256, stream, device_out, device_a, device_b, kCount),
            hipSuccess)
      << report();
  ASSERT_EQ(hipEventRecord(second, stream), hipSuccess);
  ASSERT_EQ(hipMemcpyAsync(out.data(), device_out, kBytes, hipMemcpyDeviceToHost, stream),
            hipSuccess);
  ASSERT_EQ(hipStreamSynchronize(stream), hipSuccess);
  for (int i = 0; i < kCount; ++i) {
    ASSERT_EQ(out[static_cast<size_t>(i)], 1.5F * static_cast<float>(i)) << i;
  }
  float ms = -1;
  ASSERT_EQ(hipEventSynchronize(second), hipSuccess);
  ASSERT_EQ(hipEventElapsedTime(&ms, first, second), hipSuccess);
  EXPECT_GT(ms, 0);
  EXPECT_EQ(hipStreamQuery(stream), hipSuccess);
  EXPECT_EQ(hipEventDestroy(first), hipSuccess);
  EXPECT_EQ(hipEventDestroy(second), hipSuccess);
  EXPECT_EQ(hipStreamDestroy(stream), hipSuccess);
  for (void* pointer : {device_a, device_b, device_out}) EXPECT_EQ(hipFree(pointer), hipSuccess);
}

struct Scale {
  float* data;
  char pad;
  double factor;
  int n;
};

TEST_F(ModuleProgram, PassesStructsByValue) {
  float* data = upload(numbers(1));
  Scale scale{data, 0, 3.0, kCount};
  ASSERT_EQ(launch_1d(kernel("scale"), 8, 128, nullptr, scale, 0.25F), hipSuccess) << report();
  const std::vector<float> out = download(data, kCount);
  for (int i = 0; i < kCount; ++i) {
    ASSERT_EQ(out[static_cast<size_t>(i)], 3.0F * static_cast<float>(i) + 0.25F) << i;
  }
}

TEST_F(ModuleProgram, TakesArgumentsAsOneBuffer) {
  float* data = upload(numbers(1));
  struct {
    Scale scale;
    float offset;
  } buffer{{data, 0, 2.0, kCount}, 1.0F};
  size_t bytes = sizeof(buffer);
  void* extra[] = {HIP_LAUNCH_PARAM_BUFFER_POINTER, &buffer, HIP_LAUNCH_PARAM_BUFFER_SIZE, &bytes,
                   HIP_LAUNCH_PARAM_END};
  ASSERT_EQ(hipModuleLaunchKernel(kernel("scale"), 4, 1, 1, 256, 1, 1, 0, nullptr, nullptr, extra),
            hipSuccess)
      << report();
  EXPECT_EQ(download(data, kCount)[10], 21.0F);
}

TEST_F(ModuleProgram, LoadsBundlesAndPlainCodeObjectsFromMemory) {
  for (const char* file : {RADIANCE_TEST_KERNELS ".hsaco", RADIANCE_TEST_KERNELS ".bundle"}) {
    hipModule_t module = nullptr;
    {
      const std::vector<char> image = read_bytes(file);
      ASSERT_EQ(hipModuleLoadData(&module, image.data()), hipSuccess) << file << ": " << report();
    }
    hipFunction_t function = nullptr;
    ASSERT_EQ(hipModuleGetFunction(&function, module, "add"), hipSuccess);
    float* a = upload(numbers(1));
    ASSERT_EQ(launch_1d(function, 4, 256, nullptr, a, a, a, kCount), hipSuccess) << report();
    EXPECT_EQ(download(a, kCount)[7], 14.0F);
    EXPECT_EQ(hipModuleUnload(module), hipSuccess);
  }
}

TEST_F(ModuleProgram, ReachesVariables) {
  hipDeviceptr_t address = nullptr;
  size_t bytes = 0;
  ASSERT_EQ(hipModuleGetGlobal(&address, &bytes, module_, "total"), hipSuccess) << report();
  EXPECT_EQ(bytes, sizeof(int));
  ASSERT_EQ(launch_1d(kernel("add_to_total"), 2, 32, nullptr, 3), hipSuccess) << report();
  EXPECT_EQ(download(static_cast<int*>(address), 1)[0], 5 + 2 * 32 * 3);
}

TEST_F(ModuleProgram, GivesDynamicLds) {
  std::vector<int> in(256);
  std::iota(in.begin(), in.end(), 0);
  int* device_in = upload(in);
  int* out = upload(std::vector<int>(4));
  void* parameters[] = {&out, &device_in};
  ASSERT_EQ(hipModuleLaunchKernel(kernel("sum_groups"), 4, 1, 1, 64, 1, 1, 64 * sizeof(int),
                                  nullptr, parameters, nullptr),
            hipSuccess)
      << report();
  EXPECT_THAT(download(out, 4), testing::ElementsAre(2016, 6112, 10208, 14304));
}

TEST_F(ModuleProgram, TellsOfDeviceAndKernels) {
  int count = 0, value = 0;
  ASSERT_EQ(hipInit(0), hipSuccess);
  ASSERT_EQ(hipGetDeviceCount(&count), hipSuccess);
  EXPECT_EQ(count, 1);
  ASSERT_EQ(hipDeviceGetAttribute(&value, hipDeviceAttributeMultiprocessorCount, 0), hipSuccess);
  EXPECT_EQ(value, 32) << "work-group processors, as ROCm counts on this chip";
  ASSERT_EQ(hipDeviceGetAttribute(&value, hipDeviceAttributeWarpSize, 0), hipSuccess);
  EXPECT_EQ(value, 32);
  ASSERT_EQ(hipFuncGetAttribute(&value, HIP_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES, kernel("large_lds")),
            hipSuccess);
  EXPECT_EQ(value, 60 << 10);
  ASSERT_EQ(
      hipFuncGetAttribute(&value, HIP_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK, kernel("at_most_64")),
      hipSuccess);
  EXPECT_EQ(value, 64);
  ASSERT_EQ(hipModuleOccupancyMaxActiveBlocksPerMultiprocessor(&value, kernel("large_lds"), 256, 0),
            hipSuccess);
  EXPECT_EQ(value, 2) << "128 KiB of LDS a work-group processor";
  ASSERT_EQ(hipModuleOccupancyMaxActiveBlocksPerMultiprocessor(&value, kernel("add"), 256, 0),
            hipSuccess);
  EXPECT_EQ(value, 8) << "64 waves a work-group processor";
}

TEST_F(ModuleProgram, FillsInAllWidths) {
  std::vector<unsigned char> zeros(16);
  unsigned char* bytes = upload(zeros);
  ASSERT_EQ(hipMemset(bytes, 0x11, 16), hipSuccess);
  ASSERT_EQ(hipMemsetD16(bytes + 4, 0x2233, 2), hipSuccess);
  ASSERT_EQ(hipMemsetD32(bytes + 8, 0x44556677, 2), hipSuccess);
  EXPECT_THAT(download(bytes, 16),
              testing::ElementsAre(0x11, 0x11, 0x11, 0x11, 0x33, 0x22, 0x33, 0x22, 0x77, 0x66, 0x55,
                                   0x44, 0x77, 0x66, 0x55, 0x44));
}

TEST_F(ModuleProgram, CountsItsMemory) {
  size_t before = 0, after = 0, total = 0;
  ASSERT_EQ(hipMemGetInfo(&before, &total), hipSuccess);
  EXPECT_LE(before, total);
  void* pointer = nullptr;
  ASSERT_EQ(hipMallocAsync(&pointer, 1 << 20, nullptr), hipSuccess);
  ASSERT_EQ(hipMemGetInfo(&after, &total), hipSuccess);
  EXPECT_EQ(before - after, size_t{1} << 20);
  ASSERT_EQ(hipFreeAsync(pointer, nullptr), hipSuccess);
  ASSERT_EQ(hipMemGetInfo(&after, &total), hipSuccess);
  EXPECT_EQ(before, after);
}

TEST_F(ModuleProgram, ThreadsUseTheirOwnStreams) {
  hipFunction_t add = kernel("add");
  std::vector<std::thread> threads;
  for (int t = 1; t <= 4; ++t) {
    threads.emplace_back([&, t] {
      hipStream_t stream = nullptr;
      ASSERT_EQ(hipStreamCreate(&stream), hipSuccess);
      float* data = upload(numbers(static_cast<float>(t)));
      for (int i = 0; i < 5; ++i) {
        ASSERT_EQ(launch_1d(add, 4, 256, stream, data, data, data, kCount), hipSuccess) << report();
      }
      ASSERT_EQ(hipStreamSynchronize(stream), hipSuccess);
      EXPECT_EQ(download(data, kCount)[3], 3.0F * static_cast<float>(t) * 32);
      ASSERT_EQ(hipStreamDestroy(stream), hipSuccess);
    });
  }
  for (std::thread& thread : threads) thread.join();
}

}  // namespace
}  // namespace radiance::emulator
