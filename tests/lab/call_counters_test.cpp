#include "lab/call_counters.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "lab/bench.hpp"
#include "radiance/error.hpp"

namespace radiance::lab {
namespace {

TEST(CallCounters, SumUpTheKernelsOfACall) {
  const nlohmann::json counters = summarized_counters(
      R"({"kernels": [
        {"name": "quantize", "launches": 1, "wave_instructions": 30,
         "instructions": {"valu": 20, "wmma": 0}, "global_load": {"bytes": 64}},
        {"name": "decode", "launches": 1, "wave_instructions": 970,
         "instructions": {"valu": 500, "wmma": 128}, "global_load": {"bytes": 1000}}]})",
      17, 64, 200);
  EXPECT_EQ(counters.at("kernels").size(), 2U);
  const nlohmann::json& call = counters.at("call");
  EXPECT_EQ(call.at("wave_instructions"), 1000);
  EXPECT_EQ(call.at("instructions").at("valu"), 520);
  EXPECT_EQ(call.at("global_load").at("bytes"), 1064);
  EXPECT_FALSE(call.contains("name"));
  // Two rows of tiles, four columns, two slabs.
  EXPECT_EQ(counters.at("instructions_per_tile_slab").at("all"), 1000.0 / 16);
  EXPECT_EQ(counters.at("instructions_per_tile_slab").at("wmma"), 8);
}

TEST(CallCounters, NoKernelIsNoError) {
  const nlohmann::json counters = summarized_counters(R"({"kernels": []})", 1, 1, 1);
  EXPECT_TRUE(counters.at("call").empty());
}

// The emulator counts, and has no time.
TEST(CallCounters, TheBenchOfTheEmulator) {
  std::unique_ptr<Engine> engine;
  try {
    engine = std::make_unique<Engine>("emu", DeviceOptions());
  } catch (const Error& error) {
    GTEST_SKIP() << error.what();
  }
  BenchOptions options;
  options.shapes = {bench_shape("128x256")};
  options.rows = {1, 20};
  options.formats = {RADIANCE_AUTOROUND_INT4};
  options.scopes = {Scope::kGemm, Scope::kOp};
  const nlohmann::json rows = to_json(run_bench(*engine, options, {})).at("rows");
  ASSERT_EQ(rows.size(), 4U);
  for (const nlohmann::json& row : rows) {
    EXPECT_TRUE(nlohmann::json::parse(row.dump()).at("us").is_null());
    EXPECT_EQ(row.at("samples"), 0);
    const nlohmann::json& call = row.at("counters").at("call");
    if (row.at("M") == 20) {  // one WMMA a 16 x 16 x 16 block
      EXPECT_EQ(call.at("instructions").at("wmma"), 128 / 16 * 256 / 16 * 2);
    }
    EXPECT_GE(call.at("global_load").at("distinct_lines").get<int>() * 128, 128 * 256 / 2);
  }
  // The quantization is a kernel more.
  EXPECT_GT(rows[2].at("counters").at("kernels").size(),
            rows[0].at("counters").at("kernels").size());
}

}  // namespace
}  // namespace radiance::lab
