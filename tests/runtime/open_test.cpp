#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "runtime/cpu_features.hpp"
#include "runtime/device.hpp"

namespace radiance {
namespace {

using ::testing::HasSubstr;

Error error_of(const std::string& name, int threads = 0) {
  try {
    DeviceOptions options;
    options.threads = threads;
    open_device(name, options);
  } catch (const Error& error) {
    return error;
  }
  ADD_FAILURE() << name << " opened";
  return Error(RADIANCE_OK, "");
}

TEST(OpenDevice, TakesEverySupportedArch) {
  EXPECT_EQ(open_device("cpu")->info().arch, cpu_arch_name(supported_cpu_archs().front()));
  for (const CpuArch arch : supported_cpu_archs()) {
    const std::string name = std::string("cpu:") + cpu_arch_name(arch);
    EXPECT_EQ(open_device(name)->info().arch, cpu_arch_name(arch));
    EXPECT_EQ(open_device(name)->info().name, name);
  }
  EXPECT_EQ(supported_cpu_archs().back(), CpuArch::kPortable);
}

TEST(OpenDevice, SaysWhatIsWrong) {
  EXPECT_EQ(error_of("cpu:mmx").status(), RADIANCE_NO_DEVICE);
  EXPECT_THAT(error_of("cpu:mmx").what(), HasSubstr("cpu:portable"));
  EXPECT_EQ(error_of("hip:99").status(), RADIANCE_NO_DEVICE);
  EXPECT_EQ(error_of("hip:").status(), RADIANCE_INVALID_ARGUMENT);
  EXPECT_EQ(error_of("hip:0x").status(), RADIANCE_INVALID_ARGUMENT);
  EXPECT_EQ(error_of("cuda:-1").status(), RADIANCE_INVALID_ARGUMENT);
  EXPECT_EQ(error_of("toaster").status(), RADIANCE_INVALID_ARGUMENT);
  EXPECT_EQ(error_of("cpu", -1).status(), RADIANCE_INVALID_ARGUMENT);
}

}  // namespace
}  // namespace radiance
