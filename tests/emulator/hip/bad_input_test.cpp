// What programs and files get wrong: HIP's code, and a sentence.
#include <cstring>
#include <random>

#include "tests/emulator/hip/hip_fixture.hpp"

namespace radiance::emulator {
namespace {

using ::testing::HasSubstr;
using BadInput = HipTest;

TEST_F(BadInput, RefusesCodeForAnotherTarget) {
  hipModule_t module = nullptr;
  EXPECT_EQ(hipModuleLoad(&module, RADIANCE_TEST_KERNELS ".gfx1100.hsaco"), hipErrorNoBinaryForGpu);
  EXPECT_THAT(report(), HasSubstr("gfx1100"));
  EXPECT_EQ(hipModuleLoad(&module, RADIANCE_TEST_KERNELS ".gfx1100.bundle"),
            hipErrorNoBinaryForGpu);
  EXPECT_EQ(module, nullptr);
}

TEST_F(BadInput, RefusesWhatIsNoCodeObject) {
  hipModule_t module = nullptr;
  EXPECT_EQ(hipModuleLoadData(&module, "neither ELF nor bundle, but long enough to be looked at"),
            hipErrorInvalidImage);
  EXPECT_FALSE(report().empty());
  EXPECT_EQ(hipModuleLoadData(&module, nullptr), hipErrorInvalidValue);
  EXPECT_EQ(hipModuleLoad(&module, "/nonexistent/file"), hipErrorFileNotFound);
  EXPECT_THAT(report(), HasSubstr("/nonexistent/file"));
  EXPECT_EQ(hipModuleLoad(&module, "/proc/self/exe"), hipErrorNoBinaryForGpu);
}

// The image stands before memory that ends, so that a reader past its end would be noticed.
TEST_F(BadInput, RefusesTruncatedCode) {
  for (const char* file : {RADIANCE_TEST_KERNELS ".hsaco", RADIANCE_TEST_KERNELS ".bundle"}) {
    const std::vector<char> image = read_bytes(file);
    for (size_t bytes = 0; bytes < image.size(); bytes += 1 + bytes / 16) {
      void* end = nullptr;
      ASSERT_EQ(hipMalloc(&end, image.size()), hipSuccess);
      // The allocation is followed by a page that is not there, at its end rounded up to 4 KiB.
      constexpr size_t kPage = 4096;
      const size_t rounded = (image.size() + kPage - 1) / kPage * kPage;
      char* const begin = static_cast<char*>(end) + rounded - bytes;
      std::memcpy(begin, image.data(), bytes);
      hipModule_t module = nullptr;
      EXPECT_EQ(hipModuleLoadData(&module, begin), hipErrorInvalidImage) << file << " " << bytes;
      EXPECT_FALSE(report().empty());
      ASSERT_EQ(hipFree(end), hipSuccess);
    }
  }
}

// Any change must give an error or a module, and neither a crash nor an endless loop.
TEST_F(BadInput, SurvivesCorruptCode) {
  const std::vector<char> image = read_bytes(RADIANCE_TEST_KERNELS ".hsaco");
  std::mt19937 random(20260);
  int refused = 0;
  for (int round = 0; round < 300; ++round) {
    std::vector<char> corrupt = image;
    corrupt.resize(image.size() + 4096);
    for (int i = 0; i < 1 + round % 8; ++i) {
      // Headers and tables are at the front of the file and at its end.
      const size_t at = random() % 2 == 0 ? random() % 1024 : random() % image.size();
      corrupt[at] = static_cast<char>(random());
    }
    hipModule_t module = nullptr;
    const hipError_t error = hipModuleLoadData(&module, corrupt.data());
    refused += error != hipSuccess;
    if (error == hipSuccess) {
      EXPECT_EQ(hipModuleUnload(module), hipSuccess);
    } else {
      EXPECT_FALSE(report().empty());
    }
  }
  EXPECT_GT(refused, 30);
}

TEST_F(BadInput, NamesUnknownKernelsAndVariables) {
  hipFunction_t function = nullptr;
  EXPECT_EQ(hipModuleGetFunction(&function, module_, "subtract"), hipErrorNotFound);
  EXPECT_THAT(report(), HasSubstr("subtract"));
  EXPECT_THAT(report(), HasSubstr("add"));
  hipDeviceptr_t address = nullptr;
  EXPECT_EQ(hipModuleGetGlobal(&address, nullptr, module_, "sum"), hipErrorNotFound);
}

TEST_F(BadInput, RefusesWrongArguments) {
  int buffer[16] = {};
  size_t bytes = 8;  // sum_groups takes 16
  void* extra[] = {HIP_LAUNCH_PARAM_BUFFER_POINTER, buffer, HIP_LAUNCH_PARAM_BUFFER_SIZE, &bytes,
                   HIP_LAUNCH_PARAM_END};
  const auto launch = [&](void** parameters, void** extra_list) {
    return hipModuleLaunchKernel(kernel("sum_groups"), 1, 1, 1, 32, 1, 1, 128, nullptr, parameters,
                                 extra_list);
  };
  EXPECT_EQ(launch(nullptr, extra), hipErrorInvalidValue);
  EXPECT_THAT(report(), HasSubstr("16 bytes"));
  bytes = 4096;
  EXPECT_EQ(launch(nullptr, extra), hipErrorInvalidValue);
  void* parameters[] = {buffer, nullptr};
  EXPECT_EQ(launch(parameters, nullptr), hipErrorInvalidValue);
  EXPECT_THAT(report(), HasSubstr("argument 1"));
  EXPECT_EQ(launch(parameters, extra), hipErrorInvalidValue);
  void* nothing[] = {HIP_LAUNCH_PARAM_END, nullptr};
  EXPECT_EQ(launch(nullptr, nothing), hipErrorNotInitialized);
  EXPECT_EQ(launch(nullptr, nullptr), hipErrorInvalidValue);
}

TEST_F(BadInput, RefusesWrongShapes) {
  int* out = upload(std::vector<int>(2048));
  int* order = upload(std::vector<int>(2048));
  void* parameters[] = {&out, &order};
  const auto launch = [&](const char* name, unsigned x, unsigned y, unsigned z, unsigned threads,
                          unsigned lds) {
    return hipModuleLaunchKernel(kernel(name), x, y, z, threads, 1, 1, lds, nullptr, parameters,
                                 nullptr);
  };
  EXPECT_EQ(launch("large_lds", 0, 1, 1, 64, 0), hipErrorInvalidValue);
  EXPECT_THAT(report(), HasSubstr("0 x 1 x 1"));
  EXPECT_EQ(launch("large_lds", 1, 0, 1, 64, 0), hipErrorInvalidValue);
  EXPECT_EQ(launch("large_lds", 1, 1, 0, 64, 0), hipErrorInvalidValue);
  EXPECT_EQ(launch("large_lds", 1, 1, 1, 0, 0), hipErrorInvalidValue);
  EXPECT_EQ(launch("large_lds", 1, 1, 1, 1025, 0), hipErrorInvalidConfiguration);
  EXPECT_EQ(launch("large_lds", 0x08000000, 1, 1, 64, 0), hipErrorInvalidConfiguration);
  EXPECT_EQ(launch("large_lds", 1, 1, 1, 64, 4097), hipErrorOutOfMemory);
  EXPECT_THAT(report(), HasSubstr("65537 bytes of LDS"));
  EXPECT_EQ(launch("at_most_64", 1, 1, 1, 65, 0), hipErrorLaunchFailure);
  EXPECT_THAT(report(), HasSubstr("at most 64"));
  // None of these is sticky.
  EXPECT_EQ(launch("large_lds", 1, 1, 1, 64, 4096), hipSuccess) << report();
}

TEST_F(BadInput, RefusesHandlesThatAreGone) {
  hipStream_t stream = nullptr;
  hipEvent_t event = nullptr;
  hipFunction_t function = kernel("at_most_64");
  ASSERT_EQ(hipStreamCreate(&stream), hipSuccess);
  ASSERT_EQ(hipStreamDestroy(stream), hipSuccess);
  ASSERT_EQ(hipEventCreate(&event), hipSuccess);
  ASSERT_EQ(hipEventDestroy(event), hipSuccess);
  int* out = upload(std::vector<int>(64));
  EXPECT_EQ(launch_1d(function, 1, 64, stream, out), hipErrorContextIsDestroyed);
  EXPECT_EQ(hipStreamSynchronize(stream), hipErrorContextIsDestroyed);
  EXPECT_EQ(hipEventRecord(event, nullptr), hipErrorInvalidHandle);
  EXPECT_EQ(hipStreamDestroy(nullptr), hipErrorInvalidHandle);
  ASSERT_EQ(hipModuleUnload(module_), hipSuccess);
  EXPECT_EQ(hipModuleUnload(module_), hipErrorInvalidHandle);
  EXPECT_EQ(launch_1d(function, 1, 64, nullptr, out), hipErrorInvalidImage);
}

TEST_F(BadInput, RefusesWrongMemory) {
  char* device = upload(std::vector<char>(100));
  char host[200] = {};
  EXPECT_EQ(hipMemcpy(device, host, 101, hipMemcpyHostToDevice), hipErrorInvalidValue);
  EXPECT_THAT(report(), HasSubstr("ends past its allocation of 100"));
  EXPECT_EQ(hipMemcpy(host, device + 50, 51, hipMemcpyDeviceToHost), hipErrorInvalidValue);
  EXPECT_EQ(hipMemcpy(device, device + 50, 51, hipMemcpyDefault), hipErrorInvalidValue);
  EXPECT_EQ(hipMemcpy(host, host + 100, 10, hipMemcpyHostToDevice), hipErrorInvalidValue);
  EXPECT_THAT(report(), HasSubstr("not device memory"));
  EXPECT_EQ(hipMemset(device + 99, 0, 2), hipErrorInvalidValue);
  EXPECT_EQ(hipFree(device + 1), hipErrorInvalidValue);
  EXPECT_EQ(hipFree(nullptr), hipSuccess);
  EXPECT_EQ(hipFree(device), hipSuccess);
  EXPECT_EQ(hipFree(device), hipErrorInvalidValue);
  EXPECT_EQ(hipMemset(device, 0, 1), hipErrorInvalidValue) << "freed";
  void* pointer = nullptr;
  EXPECT_EQ(hipMalloc(&pointer, size_t{1} << 50), hipErrorOutOfMemory);
  EXPECT_EQ(hipMalloc(&pointer, SIZE_MAX), hipErrorOutOfMemory);
  EXPECT_EQ(hipSetDevice(1), hipErrorInvalidDevice);
}

TEST_F(BadInput, KeepsTheLastErrorOfAThread) {
  EXPECT_EQ(hipGetLastError(), hipSuccess);
  EXPECT_EQ(hipSetDevice(7), hipErrorInvalidDevice);
  EXPECT_EQ(hipSetDevice(0), hipSuccess);
  EXPECT_EQ(hipPeekAtLastError(), hipErrorInvalidDevice);
  EXPECT_EQ(hipGetLastError(), hipErrorInvalidDevice);
  EXPECT_EQ(hipGetLastError(), hipSuccess);
  EXPECT_STREQ(hipGetErrorName(hipErrorInvalidDevice), "hipErrorInvalidDevice");
  EXPECT_STREQ(hipGetErrorString(hipErrorInvalidDevice), "invalid device ordinal");
  EXPECT_STREQ(hipGetErrorName(static_cast<hipError_t>(12345)), "hipErrorUnknown");
}

}  // namespace
}  // namespace radiance::emulator
