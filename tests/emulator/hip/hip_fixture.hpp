// What the tests of the HIP runtime share: a module of test kernels and buffers, by HIP's own
// calls.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#if RADIANCE_TEST_HIP_HEADERS
#define __HIP_PLATFORM_AMD__ 1
#include <hip/hip_runtime_api.h>
#else
#include "tests/emulator/hip/hip_declarations.hpp"
#endif

#include "emulator/hip/radiance_emulator.h"

namespace radiance::emulator {

std::vector<char> read_bytes(const std::string& path);

// Every test begins and ends with a device as new, options at their defaults, and nothing on
// stderr.
class HipTest : public testing::Test {
 protected:
  void SetUp() override;
  void TearDown() override;

  hipFunction_t kernel(const char* name) const;

  template <typename T>
  T* upload(const std::vector<T>& values) {
    void* pointer = nullptr;
    EXPECT_EQ(hipMalloc(&pointer, values.size() * sizeof(T)), hipSuccess);
    EXPECT_EQ(hipMemcpy(pointer, values.data(), values.size() * sizeof(T), hipMemcpyHostToDevice),
              hipSuccess);
    return static_cast<T*>(pointer);
  }

  template <typename T>
  std::vector<T> download(const T* pointer, size_t count) {
    std::vector<T> values(count);
    EXPECT_EQ(hipMemcpy(values.data(), pointer, count * sizeof(T), hipMemcpyDeviceToHost),
              hipSuccess);
    return values;
  }

  hipModule_t module_ = nullptr;
};

// One workgroup after another in x; the arguments by reference.
template <typename... Arguments>
hipError_t launch_1d(hipFunction_t function, unsigned groups, unsigned threads, hipStream_t stream,
                     Arguments... arguments) {
  void* parameters[] = {&arguments..., nullptr};
  return hipModuleLaunchKernel(function, groups, 1, 1, threads, 1, 1, 0, stream, parameters,
                               nullptr);
}

inline std::string report() { return radiance_emulator_last_report(); }

}  // namespace radiance::emulator
