#include <algorithm>

#include "checkpoint/checkpoint.hpp"
#include "numerics/bf16.hpp"
#include "support.hpp"

namespace radiance {
namespace {

using test::CheckpointBuilder;
using test::expect_error;
using test::Int4Fixture;
using test::RawTensor;
using test::TempDir;

constexpr const char* kName = "model.layers.0.mlp.up_proj";

nlohmann::json gptq_config(const Int4Fixture& fixture, const char* format, bool sym) {
  return {{"quant_method", "gptq"},
          {"bits", 4},
          {"group_size", fixture.group},
          {"sym", sym},
          {"checkpoint_format", format}};
}

Int4Weight load(const nlohmann::json& config, const std::vector<RawTensor>& tensors,
                const LoadOptions& options = {}) {
  CheckpointBuilder builder;
  builder.config["quantization_config"] = config;
  builder.add(tensors);
  TempDir dir;
  builder.write(dir.path());
  const auto checkpoint = Checkpoint::open(dir.path());
  return checkpoint.load_int4(*checkpoint.find(kName), options);
}

void expect_equal(const Int4Weight& weight, const Int4Fixture& fixture) {
  EXPECT_EQ(weight.n, fixture.n);
  EXPECT_EQ(weight.k, fixture.k);
  EXPECT_EQ(weight.group, fixture.group);
  EXPECT_EQ(weight.codes, fixture.words());
  EXPECT_EQ(weight.scales, fixture.scales);
}

struct Shape {
  int64_t n, k, group;
};
// Groups of 32, 64, 128, all of k, a short last group, one group longer than k.
constexpr Shape kShapes[] = {{32, 128, 32}, {40, 128, 64},  {96, 256, 128}, {32, 96, -1},
                             {64, 200, 64}, {32, 576, 128}, {32, 64, 128}};

TEST(WeightLoader, EveryPackingLoadsTheSame) {
  uint32_t seed = 1;
  for (const auto& [n, k, group] : kShapes) {
    const Int4Fixture fixture(n, k, group, seed++);
    const auto v1 = load(gptq_config(fixture, "gptq", true), fixture.gptq(kName, 1));
    const auto v2 = load(gptq_config(fixture, "gptq_v2", true), fixture.gptq(kName, 0));
    auto auto_round = CheckpointBuilder::auto_round(group);
    const auto round = load(auto_round, fixture.gptq(kName, 1));
    auto_round["packing_format"] = "auto_round:auto_awq";
    const auto awq = load(auto_round, fixture.awq(kName));
    for (const auto* weight : {&v1, &v2, &round, &awq}) {
      expect_equal(*weight, fixture);
      EXPECT_TRUE(weight->zeros.empty());
      EXPECT_TRUE(weight->bias.empty());
    }
  }
}

TEST(WeightLoader, AsymmetricZerosAreReadWhenAllowed) {
  uint32_t seed = 50;
  for (const auto& [n, k, group] : kShapes) {
    if (n % 8 != 0) continue;
    const Int4Fixture fixture(n, k, group, seed++, true);
    const LoadOptions allow{.allow_asymmetric = true};
    const auto v1 = load(gptq_config(fixture, "gptq", false), fixture.gptq(kName, 1), allow);
    const auto v2 = load(gptq_config(fixture, "gptq_v2", false), fixture.gptq(kName, 0), allow);
    const nlohmann::json awq_config = {{"quant_method", "awq"},
                                       {"bits", 4},
                                       {"group_size", group},
                                       {"zero_point", true},
                                       {"version", "gemm"}};
    const auto awq = load(awq_config, fixture.awq(kName), allow);
    for (const auto* weight : {&v1, &v2, &awq}) {
      expect_equal(*weight, fixture);
      EXPECT_EQ(weight->zeros, fixture.zeros);
    }
    expect_error(RADIANCE_UNSUPPORTED, {kName, "asymmetric zeros", "words", "the first at ["},
                 [&] { load(gptq_config(fixture, "gptq", false), fixture.gptq(kName, 1)); });
  }
}

TEST(WeightLoader, AcceptsEveryWidthOfZeros) {
  // N = 40: exporters write N / 8 = 5 words a row, or N / 32 * 4 = 4.
  const Int4Fixture fixture(40, 64, 32, 9);
  auto tensors = fixture.gptq(kName, 1);
  expect_equal(load(gptq_config(fixture, "gptq", true), tensors), fixture);
  tensors[1].shape = {2, 4};
  tensors[1].bytes.resize(2 * 4 * 4);
  expect_equal(load(gptq_config(fixture, "gptq", true), tensors), fixture);
  // Asymmetric zeros must cover every feature.
  tensors[1].bytes[0] = '\x12';
  expect_error(RADIANCE_UNSUPPORTED, {"32 of 40 features"}, [&] {
    load(gptq_config(fixture, "gptq", false), tensors, {.allow_asymmetric = true});
  });
}

TEST(WeightLoader, ReadsBiases) {
  const Int4Fixture fixture(32, 64, 32, 3);
  std::vector<float> bias(32);
  std::vector<uint16_t> halves(32);
  for (size_t i = 0; i < bias.size(); ++i) {
    bias[i] = static_cast<float>(i) - 15.5f;
    halves[i] = f32_to_bf16(bias[i]);
  }
  auto tensors = fixture.gptq(kName, 1);
  tensors.push_back({std::string(kName) + ".bias", "BF16", {32}, test::bytes_of(halves)});
  EXPECT_EQ(load(gptq_config(fixture, "gptq", true), tensors).bias, bias);
  tensors.back() = {std::string(kName) + ".bias", "F32", {32}, test::bytes_of(bias)};
  EXPECT_EQ(load(gptq_config(fixture, "gptq", true), tensors).bias, bias);
  tensors.back().shape = {2, 16};
  expect_error(RADIANCE_BAD_INPUT, {".bias", "[2, 16]", "[32]"},
               [&] { load(gptq_config(fixture, "gptq", true), tensors); });
}

// Data that begins at an odd address.
TEST(WeightLoader, ToleratesMisalignedTensors) {
  const Int4Fixture fixture(32, 64, 32, 4);
  auto tensors = fixture.gptq(kName, 1);
  tensors.insert(tensors.begin(), {"a.odd", "F8_E4M3", {3}, "abc"});
  expect_equal(load(gptq_config(fixture, "gptq", true), tensors), fixture);
}

TEST(WeightLoader, ReadsMxfp4) {
  CheckpointBuilder builder;
  builder.config["quantization_config"] = nlohmann::json::parse(R"({
      "quant_method": "compressed-tensors", "format": "mxfp4-pack-quantized", "ignore": [],
      "config_groups": {"group_0": {"targets": ["Linear"],
        "weights": {"num_bits": 4, "type": "float", "group_size": 32, "symmetric": true}}}})");
  std::string codes(8 * 32, '\0');
  for (size_t i = 0; i < codes.size(); ++i) codes[i] = static_cast<char>(i * 7);
  std::string scales(8 * 2, '\0');
  for (size_t i = 0; i < scales.size(); ++i) scales[i] = static_cast<char>(115 + i);
  builder.add({std::string(kName) + ".weight_packed", "U8", {8, 32}, codes});
  builder.add({std::string(kName) + ".weight_scale", "U8", {8, 2}, scales});
  TempDir dir;
  builder.write(dir.path());
  const auto checkpoint = Checkpoint::open(dir.path());
  EXPECT_TRUE(checkpoint.servable());
  const LinearModule& module = *checkpoint.find(kName);
  const auto weight = checkpoint.load_mxfp4(module);
  EXPECT_EQ(weight.n, 8);
  EXPECT_EQ(weight.k, 64);
  EXPECT_EQ(std::string(weight.codes.begin(), weight.codes.end()), codes);
  EXPECT_EQ(std::string(weight.scales.begin(), weight.scales.end()), scales);
  EXPECT_TRUE(std::holds_alternative<Mxfp4Weight>(checkpoint.load_linear(module)));
  expect_error(RADIANCE_UNSUPPORTED, {kName, "MXFP4"}, [&] { checkpoint.load_int4(module); });

  builder.at(std::string(kName) + ".weight_scale").bytes[5] = '\xff';
  builder.write(dir.path());
  expect_error(RADIANCE_BAD_INPUT, {"weight_scale", "255", "[2][1]"},
               [&] { Checkpoint::open(dir.path()); });
  builder.at(std::string(kName) + ".weight_scale").bytes[5] = '\x7f';
  builder.at(std::string(kName) + ".weight_scale").shape = {16, 1};
  builder.write(dir.path());
  expect_error(RADIANCE_BAD_INPUT, {"weight_scale", "[16, 1]", "[8, 2]"},
               [&] { Checkpoint::open(dir.path()); });
  builder.remove(std::string(kName) + ".weight_scale");
  builder.write(dir.path());
  expect_error(RADIANCE_BAD_INPUT, {"lacks", "weight_scale"},
               [&] { Checkpoint::open(dir.path()); });
}

TEST(WeightLoader, LoadsFloatTensors) {
  CheckpointBuilder builder;
  builder.add({"norm.weight", "F16", {2}, test::bytes_of(std::vector<uint16_t>{0x3c00, 0xc100})});
  builder.add({"other", "F64", {1}, std::string(8, '\0')});
  TempDir dir;
  builder.write(dir.path());
  const auto checkpoint = Checkpoint::open(dir.path());
  EXPECT_EQ(checkpoint.load_float("norm.weight"), (std::vector<float>{1.0f, -2.5f}));
  expect_error(RADIANCE_INVALID_ARGUMENT, {"'absent'"}, [&] { checkpoint.load_float("absent"); });
  expect_error(RADIANCE_UNSUPPORTED, {"F64"}, [&] { checkpoint.load_float("other"); });
}

}  // namespace
}  // namespace radiance
