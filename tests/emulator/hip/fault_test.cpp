// Kernels that go wrong, and what the emulator offers beside HIP: options, reports, counters.
#include <fstream>
#include <nlohmann/json.hpp>

#include "tests/emulator/hip/hip_fixture.hpp"

namespace radiance::emulator {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

using Faults = HipTest;

TEST_F(Faults, AWildStoreStopsTheDevice) {
  int* out = upload(std::vector<int>(8));
  EXPECT_EQ(launch_1d(kernel("store_at"), 1, 1, nullptr, out, 7L), hipSuccess) << report();
  EXPECT_EQ(launch_1d(kernel("store_at"), 1, 1, nullptr, out, 8L), hipErrorLaunchFailure);
  const std::string sentence = report();
  EXPECT_THAT(sentence, AllOf(HasSubstr("store_at"), HasSubstr("lane 0")));
  int host = 0;
  EXPECT_EQ(hipDeviceSynchronize(), hipErrorLaunchFailure) << "as on a card, it stays broken";
  EXPECT_EQ(hipMemcpy(&host, out, 4, hipMemcpyDeviceToHost), hipErrorLaunchFailure);
  EXPECT_EQ(report(), sentence);
  EXPECT_EQ(hipDeviceReset(), hipSuccess);
  EXPECT_EQ(hipDeviceSynchronize(), hipSuccess);
}

// The module is compiled with -g.
TEST_F(Faults, NamesTheSourceLine) {
  int number = 0, line = 0;
  std::ifstream source(RADIANCE_TEST_KERNEL_SOURCE);
  for (std::string text; std::getline(source, text);) {
    ++number;
    if (text.find("out[offset] = 1;") != std::string::npos) line = number;
  }
  ASSERT_GT(line, 0);
  int* out = upload(std::vector<int>(8));
  EXPECT_EQ(launch_1d(kernel("store_at"), 1, 1, nullptr, out, 8L), hipErrorLaunchFailure);
  EXPECT_THAT(report(), HasSubstr("kernels.hip:" + std::to_string(line)));
}

TEST_F(Faults, FreedMemoryIsOutOfBounds) {
  int* out = upload(std::vector<int>(8));
  ASSERT_EQ(hipFree(out), hipSuccess);
  EXPECT_EQ(launch_1d(kernel("store_at"), 1, 1, nullptr, out, 0L), hipErrorLaunchFailure);
  EXPECT_THAT(report(), HasSubstr("freed"));
}

TEST_F(Faults, EndlessLoopsEnd) {
  ASSERT_EQ(radiance_emulator_set_option("budget", "100000"), 0);
  int* flag = upload(std::vector<int>{0});
  EXPECT_EQ(launch_1d(kernel("endless"), 1, 1, nullptr, flag), hipErrorLaunchFailure);
  EXPECT_THAT(report(), HasSubstr("endless"));
}

TEST_F(Faults, OptionsAreChecked) {
  EXPECT_EQ(radiance_emulator_set_option("strict", "2"), hipErrorInvalidValue);
  EXPECT_EQ(radiance_emulator_set_option("seed", "-1"), hipErrorInvalidValue);
  EXPECT_EQ(radiance_emulator_set_option("speed", "1"), hipErrorInvalidValue);
  EXPECT_THAT(report(), AllOf(HasSubstr("speed"), HasSubstr("strict")));
  EXPECT_EQ(radiance_emulator_set_option(nullptr, "1"), hipErrorInvalidValue);
}

// Correct kernels give the same under every order of waves and under all checks.
TEST_F(Faults, GoodKernelsPassStrictly) {
  ASSERT_EQ(radiance_emulator_set_option("strict", "1"), 0);
  for (const char* seed : {"none", "1", "2", "18446744073709551615"}) {
    ASSERT_EQ(radiance_emulator_set_option("seed", seed), 0);
    int* in = upload(std::vector<int>(256, 3));
    int* out = upload(std::vector<int>(2));
    void* parameters[] = {&out, &in};
    ASSERT_EQ(hipModuleLaunchKernel(kernel("sum_groups"), 2, 1, 1, 128, 1, 1, 512, nullptr,
                                    parameters, nullptr),
              hipSuccess)
        << report();
    EXPECT_THAT(download(out, 2), testing::ElementsAre(384, 384)) << seed;
  }
}

TEST_F(Faults, CountsByKernel) {
  float* data = upload(std::vector<float>(256, 1.0F));
  radiance_emulator_reset_counters();
  for (int i = 0; i < 3; ++i) {
    ASSERT_EQ(launch_1d(kernel("add"), 2, 128, nullptr, data, data, data, 256), hipSuccess);
  }
  const auto counters = nlohmann::json::parse(radiance_emulator_counters());
  ASSERT_EQ(counters.at("kernels").size(), 1U);
  const nlohmann::json& add = counters.at("kernels")[0];
  EXPECT_EQ(add.at("name"), "add");
  EXPECT_EQ(add.at("launches"), 3);
  EXPECT_EQ(add.at("workgroups"), 6);
  EXPECT_EQ(add.at("waves"), 24);
  EXPECT_EQ(add.at("global_load").at("instructions"), 2 * 24);
  EXPECT_EQ(add.at("global_load").at("bytes"), 3 * 2 * 256 * 4);
  EXPECT_EQ(add.at("global_store").at("bytes"), 3 * 256 * 4);
  EXPECT_GT(add.at("wave_instructions"), 24 * 5);
  radiance_emulator_reset_counters();
  EXPECT_TRUE(nlohmann::json::parse(radiance_emulator_counters()).at("kernels").empty());
}

TEST_F(Faults, SaysWhatItIs) {
  EXPECT_THAT(radiance_emulator_version(), testing::StartsWith("Radiance gfx1201 emulator "));
  EXPECT_THAT(radiance_emulator_supported(), HasSubstr("v_wmma"));
}

}  // namespace
}  // namespace radiance::emulator
