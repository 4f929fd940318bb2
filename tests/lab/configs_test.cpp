// Suite configs reaches every configuration that a backend lists, and on gfx1201 every kernel.
#include <gtest/gtest.h>

#include <map>
#include <set>
#include <tuple>

#include "lab/census_library.hpp"
#include "lab/gate.hpp"

namespace radiance::lab {
namespace {

using Names = std::set<std::string>;

std::unique_ptr<Gate> run_configs(const std::string& device) {
  GateOptions options;
  options.device = device;
  options.device_options.threads = 2;
  options.seed = 20261130;
  options.suites = {"configs"};
  auto gate = std::make_unique<Gate>(options, GateEvents{});
  gate->run();
  EXPECT_GT(gate->count(Status::kPassed), 0);
  for (const CaseResult& result : gate->results()) {
    EXPECT_EQ(result.status, Status::kPassed)
        << result.name << " " << result.config << ": " << result.reason;
    EXPECT_EQ(result.note, "");
    EXPECT_EQ(result.n % 2, 1);
    EXPECT_EQ(result.m % 2, 1);
  }
  return gate;
}

// For each weight of the suite: what ran, and what configs() lists for any number of rows.
void expect_every_config(const Gate& gate) {
  std::map<std::tuple<radiance_format, int64_t, int64_t, int64_t>, Names> ran;
  for (const CaseResult& result : gate.results()) {
    ran[{result.format, result.n, result.k, result.group}].insert(result.config);
  }
  EXPECT_EQ(ran.size(), 8u);  // MXFP4's blocks, near each other or not, are one shape
  for (const auto& [key, names] : ran) {
    const auto& [format, n, k, group] = key;
    Names listed;
    for (int64_t m = 1; m <= 4096; m = m < 300 ? m + 1 : m * 2) {
      for (const Plan& plan : gate.engine().backend().configs({format, n, k, group}, m)) {
        listed.insert(plan.config);
      }
    }
    EXPECT_EQ(names, listed) << "k " << k << " group " << group;
  }
}

TEST(ConfigsSuite, RunsEveryConfigurationOfTheProcessor) {
  expect_every_config(*run_configs("cpu"));
  expect_every_config(*run_configs("cpu:portable"));
}

#if RADIANCE_HAVE_GFX1201
Names kernels_of(const nlohmann::json& kernels) {
  Names names;
  for (const auto& kernel : kernels) names.insert(kernel.at("name"));
  return names;
}

TEST(ConfigsSuite, RunsEveryConfigurationAndKernelOfGfx1201) {
  const std::unique_ptr<Gate> gate = run_configs("emu");
  expect_every_config(*gate);
  const auto counters = gate->engine().device().take_counters();
  ASSERT_TRUE(counters.has_value());
  const nlohmann::json counted = nlohmann::json::parse(counters.value_or("{}"));
  const Names launched = kernels_of(counted.at("kernels"));
  // Products and nothing that is left out of them.
  Names embedded;
  const nlohmann::json census = take_embedded_census(CensusLibrary());
  for (const auto& kernel : census.at("kernels")) {
    const std::string config = kernel.at("config");
    if (!config.empty() && !config.starts_with("ablate/")) embedded.insert(kernel.at("name"));
  }
  EXPECT_EQ(embedded.size(), 63u);
  for (const std::string& name : embedded) {
    EXPECT_TRUE(launched.contains(name)) << name << " was not launched";
  }
}
#endif

}  // namespace
}  // namespace radiance::lab
