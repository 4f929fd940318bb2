#include "tests/emulator/hip/hip_fixture.hpp"

#include <fstream>
#include <iterator>

namespace radiance::emulator {

std::vector<char> read_bytes(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  EXPECT_TRUE(file) << path;
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

void HipTest::SetUp() {
  TearDown();
  ASSERT_EQ(hipModuleLoad(&module_, RADIANCE_TEST_KERNELS ".hsaco"), hipSuccess) << report();
}

void HipTest::TearDown() {
  ASSERT_EQ(hipDeviceReset(), hipSuccess);
  (void)hipGetLastError();
  ASSERT_EQ(radiance_emulator_set_option("quiet", "1"), 0);
  ASSERT_EQ(radiance_emulator_set_option("strict", "0"), 0);
  ASSERT_EQ(radiance_emulator_set_option("seed", "none"), 0);
  ASSERT_EQ(radiance_emulator_set_option("budget", "4000000000"), 0);
  radiance_emulator_reset_counters();
}

hipFunction_t HipTest::kernel(const char* name) const {
  hipFunction_t function = nullptr;
  EXPECT_EQ(hipModuleGetFunction(&function, module_, name), hipSuccess) << report();
  return function;
}

}  // namespace radiance::emulator
