// HipDevice over the emulator: the path that a real card takes, to the end.
#include <dlfcn.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <vector>

#include "runtime/emulator_path.hpp"
#include "runtime/hip_module.hpp"

namespace radiance {
namespace {

using ::testing::HasSubstr;

std::vector<char> read_kernels() {
  std::ifstream file(RADIANCE_TEST_KERNELS, std::ios::binary);
  EXPECT_TRUE(file) << RADIANCE_TEST_KERNELS;
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

std::unique_ptr<Device> open_emulator(bool strict = false) {
  DeviceOptions options;
  options.strict = strict;
  return open_device("emu", options);
}

HipDevice& as_hip(Device& device) { return dynamic_cast<HipDevice&>(device); }

TEST(EmulatorDevice, IsAGfx1201With64Units) {
  const auto device = open_emulator();
  EXPECT_EQ(device->info().name, "emu");
  EXPECT_EQ(device->info().arch, "gfx1201");
  EXPECT_EQ(device->info().units, 64);
  EXPECT_THAT(device->info().driver, testing::StartsWith("Radiance gfx1201 emulator"));
  EXPECT_THAT(device->info().driver, HasSubstr("HIP 7."));
  EXPECT_GT(device->info().memory_bytes, uint64_t{1} << 30);
}

// The emulator has ROCm's SONAME: a loader that has it open must not take it for ROCm's.
TEST(EmulatorDevice, IsNeverTakenForRocm) {
  const auto device = open_emulator();
  try {
    EXPECT_FALSE(hip::rocm().is_emulator());
  } catch (const Error& error) {
    EXPECT_EQ(error.status(), RADIANCE_NO_DEVICE);
  }
}

TEST(EmulatorDevice, BothVersionsOfThePropertiesAgree) {
  const auto device = open_emulator();
  hip::Driver driver = as_hip(*device).driver();
  const hip::Properties now = driver.properties(0);
  EXPECT_EQ(now.multiprocessors, 32);
  EXPECT_EQ(now.arch, "gfx1201");
  EXPECT_EQ(now.l2_bytes, uint64_t{8} << 20);
  const std::vector<std::string> paths = emulator_paths();
  void* library = nullptr;
  for (const std::string& path : paths) {
    if (library == nullptr) library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  }
  ASSERT_NE(library, nullptr);
  driver.properties_r0600 = nullptr;
  driver.properties_r0000 = reinterpret_cast<hip::Result (*)(void*, hip::DeviceId)>(
      dlsym(library, "hipGetDeviceProperties"));
  ASSERT_NE(driver.properties_r0000, nullptr);
  const hip::Properties then = driver.properties(0);
  EXPECT_EQ(then.name, now.name);
  EXPECT_EQ(then.arch, now.arch);
  EXPECT_EQ(then.multiprocessors, now.multiprocessors);
  EXPECT_EQ(then.memory_bytes, now.memory_bytes);
  EXPECT_EQ(then.l2_bytes, now.l2_bytes);
}

TEST(EmulatorDevice, LaunchesKernels) {
  const auto device = open_emulator();
  const std::vector<char> image = read_kernels();
  const HipModule module(as_hip(*device), image.data());
  const hip::Function add = module.function("add");
  EXPECT_GT(kernel_info(as_hip(*device), add).registers, 0);
  constexpr int kCount = 100;
  std::vector<float> values(kCount, 1.5F), out(kCount);
  const Buffer in(*device, kCount * 4), sum(*device, kCount * 4);
  device->upload(in.get(), values.data(), kCount * 4);
  const StreamHandle stream = device->create_stream();
  const EventHandle first = device->create_event(), second = device->create_event();
  void *in_pointer = in.get(), *sum_pointer = sum.get();
  int count = kCount;
  void* parameters[] = {&sum_pointer, &in_pointer, &in_pointer, &count};
  HipLaunch how;
  how.grid = {2, 1, 1};
  how.block = 64;
  how.stream = stream;
  device->take_counters();
  device->record(first, stream);
  launch(as_hip(*device), add, how, parameters);
  device->record(second, stream);
  device->synchronize(stream);
  device->download(out.data(), sum.get(), kCount * 4);
  EXPECT_THAT(out, testing::Each(3.0F));
  EXPECT_GE(device->elapsed_us(first, second), 0);
  const std::optional<std::string> counters = device->take_counters();
  ASSERT_TRUE(counters.has_value());
  EXPECT_THAT(*counters, HasSubstr("\"add\""));
  EXPECT_THAT(device->take_counters().value_or(""), testing::Not(HasSubstr("\"add\"")));
  device->fill(sum.get(), 0, kCount * 4, stream);
  device->download(out.data(), sum.get(), kCount * 4);
  EXPECT_THAT(out, testing::Each(0.0F));
  device->destroy_event(first);
  device->destroy_event(second);
  device->destroy_stream(stream);
}

TEST(EmulatorDevice, ErrorsCarryItsReport) {
  const auto device = open_emulator();
  try {
    HipModule(as_hip(*device), "neither an ELF file nor a bundle");
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.status(), RADIANCE_DEVICE_ERROR);
    EXPECT_THAT(error.what(), HasSubstr("neither an ELF file"));
  }
  const std::vector<char> image = read_kernels();
  const HipModule module(as_hip(*device), image.data());
  try {
    module.function("no_such_kernel");
    FAIL();
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), HasSubstr("no_such_kernel"));
  }
}

TEST(EmulatorDevice, OptionsAreForItAlone) {
  DeviceOptions options;
  options.strict = true;
  EXPECT_THROW(open_device("cpu", options), Error);
  options.strict = false;
  options.order_seed = 1;
  EXPECT_THROW(open_device("", options), Error);
  EXPECT_NE(open_device("emu", options), nullptr);
}

}  // namespace
}  // namespace radiance
