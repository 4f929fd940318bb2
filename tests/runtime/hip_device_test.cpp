// HipDevice over a runtime that is a handful of functions of this file: what a real one cannot be
// made to do.
#include "runtime/hip_device.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <utility>

#include "runtime/hip_module.hpp"
#if __has_include(<hip/hip_runtime_api.h>)
#define __HIP_PLATFORM_AMD__ 1
#include <hip/hip_runtime_api.h>
// needs the former's types
#include <hip/hip_deprecated.h>
#endif

namespace radiance {
namespace {

using ::testing::HasSubstr;

struct Fake {
  int devices = 1;
  int current = 3;  // another library's choice
  int multiprocessors = 32;
  const char* arch = "gfx1201";
  hip::Result next = 0;  // of the next call that can fail
  hip::Result kept = 0;
} fake;

hip::Result result() {
  fake.kept = fake.next;
  return std::exchange(fake.next, 0);
}

void write(void* properties, size_t offset, const void* value, size_t bytes) {
  std::memcpy(static_cast<char*>(properties) + offset, value, bytes);
}

hip::Result properties_r0600(void* properties, int) {
  const uint64_t memory = uint64_t{32} << 30;
  std::memcpy(properties, "Radeon", 7);
  write(properties, 288, &memory, 8);
  write(properties, 388, &fake.multiprocessors, 4);
  write(properties, 1160, fake.arch, std::strlen(fake.arch) + 1);
  return 0;
}

hip::Result properties_r0000(void* properties, int) {
  const uint64_t memory = uint64_t{16} << 30;
  std::memcpy(properties, "Older", 6);
  write(properties, 256, &memory, 8);
  write(properties, 336, &fake.multiprocessors, 4);
  write(properties, 396, fake.arch, std::strlen(fake.arch) + 1);
  return 0;
}

hip::Driver fake_driver() {
  fake = Fake();
  hip::Driver d{};
  d.runtime_version = [](int* version) {
    *version = 70125424;
    return 0;
  };
  d.error_string = [](hip::Result) { return "said the runtime"; };
  d.last_error = [] { return std::exchange(fake.kept, 0); };
  d.device_count = [](int* count) {
    *count = fake.devices;
    return fake.devices == 0 ? hip::kNoDevice : 0;
  };
  d.set_device = [](int device) {
    fake.current = device;
    return 0;
  };
  d.get_device = [](int* device) {
    *device = fake.current;
    return 0;
  };
  d.properties_r0600 = properties_r0600;
  d.memory_allocate = [](void** pointer, size_t) {
    *pointer = &fake;
    EXPECT_EQ(fake.current, 0) << "memory belongs to the current device";
    return result();
  };
  d.module_load_data = [](hip::Module*, const void*) { return result(); };
  d.module_unload = [](hip::Module) { return 0; };
  d.module_get_function = [](hip::Function*, hip::Module, const char*) { return result(); };
  d.launch_kernel = [](hip::Function, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned,
                       unsigned, hip::Stream, void**, void**) { return result(); };
  return d;
}

template <typename Call>
Error error_of(const Call& call) {
  try {
    call();
  } catch (const Error& error) {
    return error;
  }
  ADD_FAILURE() << "nothing was thrown";
  return Error(RADIANCE_OK, "");
}

TEST(HipDevice, CountsComputeUnits) {
  EXPECT_EQ(compute_units(32), 64);  // R9700 and RX 9070 XT, as ROCm reports them
  EXPECT_EQ(compute_units(28), 56);  // RX 9070
  EXPECT_EQ(compute_units(64), 64);  // the former in CU mode
  const hip::Driver driver = fake_driver();
  const HipDevice device(driver, "hip:0", 0);
  EXPECT_EQ(device.info().units, 64);
}

TEST(HipDevice, DescribesItself) {
  const hip::Driver driver = fake_driver();
  fake.arch = "gfx1201:xnack-";
  const HipDevice device(driver, "hip:0", 0);
  EXPECT_EQ(device.info().name, "hip:0");
  EXPECT_EQ(device.info().description, "Radeon");
  EXPECT_EQ(device.info().arch, "gfx1201");
  EXPECT_EQ(device.info().driver, "HIP 7.1.25424");
  EXPECT_EQ(device.info().memory_bytes, uint64_t{32} << 30);
}

TEST(HipDevice, ReadsTheStructOfOlderRuntimes) {
  hip::Driver driver = fake_driver();
  driver.properties_r0600 = nullptr;
  driver.properties_r0000 = properties_r0000;
  const HipDevice device(driver, "hip:0", 0);
  EXPECT_EQ(device.info().description, "Older");
  EXPECT_EQ(device.info().units, 64);
  EXPECT_EQ(device.info().memory_bytes, uint64_t{16} << 30);
}

TEST(HipDevice, RefusesOtherChips) {
  const hip::Driver driver = fake_driver();
  for (const char* arch : {"gfx1100", "gfx1200", "gfx942:sramecc+:xnack-", "gfx12010", ""}) {
    fake.arch = arch;
    const Error error = error_of([&] { HipDevice(driver, "hip:0", 0); });
    EXPECT_EQ(error.status(), RADIANCE_UNSUPPORTED) << arch;
    EXPECT_THAT(error.what(), HasSubstr("gfx1201"));
  }
}

TEST(HipDevice, SaysHowManyThereAre) {
  const hip::Driver driver = fake_driver();
  EXPECT_EQ(error_of([&] { HipDevice(driver, "hip:1", 1); }).status(), RADIANCE_NO_DEVICE);
  fake.devices = 0;
  const Error error = error_of([&] { HipDevice(driver, "hip:0", 0); });
  EXPECT_EQ(error.status(), RADIANCE_NO_DEVICE);
  EXPECT_THAT(error.what(), HasSubstr("0 GPU(s)"));
}

TEST(HipDevice, LeavesTheCurrentDeviceAsItWas) {
  const hip::Driver driver = fake_driver();
  HipDevice device(driver, "hip:0", 0);
  device.allocate(1);
  EXPECT_EQ(fake.current, 3);
}

TEST(HipDevice, TakesErrorsOffTheRuntime) {
  const hip::Driver driver = fake_driver();
  HipDevice device(driver, "hip:0", 0);
  fake.next = hip::kOutOfMemory;
  const Error error = error_of([&] { device.allocate(1); });
  EXPECT_EQ(error.status(), RADIANCE_OUT_OF_MEMORY);
  EXPECT_THAT(error.what(), HasSubstr("said the runtime"));
  EXPECT_EQ(fake.kept, 0) << "the next caller of hipGetLastError would be blamed";
}

TEST(HipModule, NamesWhatFailed) {
  const hip::Driver driver = fake_driver();
  const HipDevice device(driver, "hip:0", 0);
  fake.next = hip::kNoBinaryForGpu;
  EXPECT_EQ(error_of([&] { HipModule(device, "image"); }).status(), RADIANCE_UNSUPPORTED);
  const HipModule module(device, "image");
  fake.next = 500;
  EXPECT_THAT(error_of([&] { module.function("no_such"); }).what(), HasSubstr("no_such"));
  fake.next = 719;
  EXPECT_EQ(error_of([&] { launch(device, nullptr, {}, nullptr); }).status(),
            RADIANCE_DEVICE_ERROR);
}

// The offsets are facts of hip_runtime_api.h; where it is at hand, compare.
TEST(HipProperties, LieWhereTheHeadersSay) {
#if __has_include(<hip/hip_runtime_api.h>)
  hipDeviceProp_tR0600 now{};
  std::strcpy(now.name, "now");
  std::strcpy(now.gcnArchName, "gfx1201");
  now.totalGlobalMem = 1;
  now.multiProcessorCount = 2;
  now.l2CacheSize = 3;
  hip::Properties p = hip::read_properties_r0600(reinterpret_cast<const unsigned char*>(&now));
  EXPECT_EQ(p.name + p.arch, "nowgfx1201");
  EXPECT_EQ(p.memory_bytes, 1U);
  EXPECT_EQ(p.multiprocessors, 2);
  EXPECT_EQ(p.l2_bytes, 3U);
  static_assert(sizeof(now) == hip::kPropertiesR0600Bytes);
  hipDeviceProp_tR0000 then{};
  std::strcpy(then.name, "then");
  std::strcpy(then.gcnArchName, "gfx1201");
  then.totalGlobalMem = 1;
  then.multiProcessorCount = 2;
  then.l2CacheSize = 3;
  p = hip::read_properties_r0000(reinterpret_cast<const unsigned char*>(&then));
  EXPECT_EQ(p.name + p.arch, "thengfx1201");
  EXPECT_EQ(p.memory_bytes, 1U);
  EXPECT_EQ(p.multiprocessors, 2);
  EXPECT_EQ(p.l2_bytes, 3U);
  static_assert(sizeof(then) == hip::kPropertiesR0000Bytes);
#else
  GTEST_SKIP() << "needs HIP's headers";
#endif
}

}  // namespace
}  // namespace radiance
