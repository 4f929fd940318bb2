#include "lab/sweep.hpp"

#include <gtest/gtest.h>

#include <string>

#include "radiance/error.hpp"

namespace radiance::lab {
namespace {

BenchOptions tiny_options() {
  BenchOptions options;
  options.seed = 72;
  options.shapes = {bench_shape("64x128")};
  options.rows = {1};
  options.formats = {RADIANCE_AUTOROUND_INT4};
  options.scopes = {Scope::kGemm};
  options.copies = 2;
  options.limits.samples = 1;
  options.limits.seconds = 1;
  return options;
}

TEST(Sweep, EveryConfigurationBesideThePlannedOne) {
  const Engine engine("cpu:portable", DeviceOptions{1});
  const std::vector<BenchRow> rows =
      run_sweep(engine, tiny_options(), Variants::kConfigs, BenchEvents{});
  const std::vector<Plan> configs =
      engine.backend().configs(WeightShape{RADIANCE_AUTOROUND_INT4, 64, 128, 128}, 1);
  ASSERT_EQ(rows.size(), configs.size());
  ASSERT_GT(rows.size(), 1u);
  for (size_t i = 0; i < rows.size(); ++i) EXPECT_EQ(rows[i].config, configs[i].config);
  if (rows[0].samples == 1) {  // none on a busy machine
    EXPECT_DOUBLE_EQ(rows[0].ratio, 1.0);
    EXPECT_DOUBLE_EQ(rows[1].ratio, rows[1].us / rows[0].us);
  }
}

TEST(Sweep, OnlyWhatBeginsAsAsked) {
  const Engine engine("cpu:portable", DeviceOptions{1});
  BenchOptions options = tiny_options();
  options.config = "prefill";
  const std::vector<BenchRow> rows = run_sweep(engine, options, Variants::kConfigs, {});
  ASSERT_GT(rows.size(), 1u);
  for (size_t i = 1; i < rows.size(); ++i) EXPECT_EQ(rows[i].config.rfind("prefill", 0), 0u);
  options.config = "split9";
  EXPECT_THROW(run_sweep(engine, options, Variants::kConfigs, {}), Error);
}

TEST(Sweep, ATargetWithoutAblationsSaysSo) {
  const Engine engine("cpu:portable", DeviceOptions{1});
  try {
    run_sweep(engine, tiny_options(), Variants::kAblations, {});
    FAIL();
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("portable has no ablation"), std::string::npos);
  }
}

}  // namespace
}  // namespace radiance::lab
