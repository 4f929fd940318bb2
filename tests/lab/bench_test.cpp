#include "lab/bench.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "radiance/error.hpp"

namespace radiance::lab {
namespace {

TEST(Bench, ShapesHaveNamesOrExtents) {
  EXPECT_EQ(bench_shape("gate_up").n, 17408);
  EXPECT_EQ(bench_shape("gate_up").k, 5120);
  EXPECT_EQ(bench_shape("down").k, 8704);
  EXPECT_EQ(bench_shape("out").n, 5120);
  EXPECT_EQ(bench_shape("96x64").n, 96);
  EXPECT_EQ(bench_shape("96x64").k, 64);
  for (const char* text : {"", "x", "96", "96x", "x64", "96x64x2", "-1x64", "0x64", "gateup"}) {
    EXPECT_THROW(bench_shape(text), Error) << text;
  }
}

TEST(Bench, ArithmeticOfARow) {
  BenchRow row;
  row.shape = {"", 1000, 2000};
  row.m = 4;
  row.packed_bytes = 1'040'000;
  row.us = 100;
  row.gbps = 10.4;
  row.probe_gbps = 20.8;
  row.peak_gmacs = 100;
  EXPECT_DOUBLE_EQ(row.tflops(), 0.16);
  EXPECT_DOUBLE_EQ(row.bits_per_weight(), 4.16);
  EXPECT_DOUBLE_EQ(row.fraction(), 0.5);
  EXPECT_DOUBLE_EQ(row.roof().memory_us, 50);
  EXPECT_DOUBLE_EQ(row.roof().compute_us, 80);
  EXPECT_DOUBLE_EQ(row.roofline_fraction(), 0.8);
}

BenchOptions tiny_options() {
  BenchOptions options;
  options.seed = 71;
  options.shapes = {bench_shape("64x128")};
  options.rows = {1, 20};
  options.formats = {RADIANCE_AUTOROUND_INT4, RADIANCE_MXFP4};
  options.scopes = {Scope::kGemm, Scope::kOp};
  options.copies = 3;
  options.limits.samples = 1;
  options.limits.seconds = 1;
  return options;
}

TEST(Bench, RunsEveryCellAndWritesTheStableNames) {
  const Engine engine("cpu:portable", DeviceOptions{1});
  int announced = 0;
  BenchEvents events;
  events.on_row = [&](const BenchRow&) { ++announced; };
  const std::vector<BenchRow> rows = run_bench(engine, tiny_options(), events);
  ASSERT_EQ(rows.size(), 8u);
  EXPECT_EQ(announced, 8);
  const nlohmann::json report = to_json(rows);
  for (const nlohmann::json& row : report.at("rows")) {
    for (const char* field :
         {"format", "config", "shape", "M", "N", "K", "scope", "threads", "samples",
          "working_set_bytes", "us", "us_spread", "gbps", "probe_gbps", "fraction", "tflops",
          "peak", "roofline_fraction", "counters"}) {
      EXPECT_TRUE(row.contains(field)) << field;
    }
    EXPECT_EQ(row.at("threads"), 1);
    // A row that got no sample on a busy machine says so instead of inventing one.
    if (row.at("samples") == 0) {
      EXPECT_TRUE(nlohmann::json::parse(row.dump()).at("us").is_null());
    } else {
      EXPECT_GT(row.at("us").get<double>(), 0);
    }
  }
}

TEST(Bench, AConfigurationThatDoesNotExistIsNamed) {
  const Engine engine("cpu:portable", DeviceOptions{1});
  BenchOptions options = tiny_options();
  options.config = "split9";
  try {
    run_bench(engine, options, {});
    FAIL();
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("split9"), std::string::npos);
  }
}

TEST(Compare, PairsRowsOfBothFormats) {
  const Engine engine("cpu:portable", DeviceOptions{1});
  const std::vector<BenchRow> rows = run_compare(engine, tiny_options(), {});
  ASSERT_EQ(rows.size(), 8u);
  for (size_t i = 0; i < rows.size(); i += 2) {
    EXPECT_EQ(rows[i].format, RADIANCE_AUTOROUND_INT4);
    EXPECT_EQ(rows[i + 1].format, RADIANCE_MXFP4);
    EXPECT_EQ(rows[i].m, rows[i + 1].m);
    EXPECT_EQ(rows[i].samples, rows[i + 1].samples);
    if (rows[i].samples == 1) {
      EXPECT_DOUBLE_EQ(rows[i].ratio, rows[i].us / rows[i + 1].us);
    }
    EXPECT_TRUE(std::isnan(rows[i + 1].ratio));
  }
}

}  // namespace
}  // namespace radiance::lab
