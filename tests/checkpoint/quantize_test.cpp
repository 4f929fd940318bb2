#include "checkpoint/quantize.hpp"

#include <gmock/gmock.h>

#include <cmath>

#include "checkpoint/checkpoint.hpp"
#include "numerics/e2m1.hpp"
#include "numerics/e8m0.hpp"
#include "numerics/f16.hpp"
#include "numerics/int4.hpp"
#include "quantize_job.hpp"

namespace radiance {
namespace {

namespace fs = std::filesystem;
using test::CheckpointBuilder;
using test::expect_error;
using test::Job;
using test::read_file;
using test::small_llama;
using test::write_file;
using test::write_sharded;

constexpr const char* kUp = "model.layers.0.mlp.up_proj";

std::vector<std::string> names_in(const fs::path& directory) {
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator(directory)) {
    names.push_back(entry.path().filename().string());
  }
  std::sort(names.begin(), names.end());
  return names;
}

double relative_difference(const std::vector<float>& a, const std::vector<float>& b) {
  double difference = 0;
  double norm = 0;
  for (size_t i = 0; i < a.size(); ++i) {
    difference += (static_cast<double>(a[i]) - b[i]) * (static_cast<double>(a[i]) - b[i]);
    norm += static_cast<double>(a[i]) * a[i];
  }
  return std::sqrt(difference / norm);
}

std::vector<float> restore(const Int4Weight& weight) {
  const int64_t group = weight.group == -1 ? weight.k : weight.group;
  std::vector<float> values(static_cast<size_t>(weight.n * weight.k));
  for (int64_t n = 0; n < weight.n; ++n) {
    for (int64_t k = 0; k < weight.k; ++k) {
      const uint32_t word = weight.codes[static_cast<size_t>(k / 8 * weight.n + n)];
      values[static_cast<size_t>(n * weight.k + k)] =
          static_cast<float>(int4_value(int4_code(word, static_cast<int>(k % 8)))) *
          f16_to_f32(weight.scales[static_cast<size_t>(k / group * weight.n + n)]);
    }
  }
  return values;
}

std::vector<float> restore(const Mxfp4Weight& weight) {
  std::vector<float> values(static_cast<size_t>(weight.n * weight.k));
  for (size_t i = 0; i < values.size(); ++i) {
    const uint8_t byte = weight.codes[i / 2];
    values[i] = e2m1_to_f32(static_cast<u8>(i % 2 == 0 ? byte & 0xf : byte >> 4)) *
                e8m0_to_f32(weight.scales[i / 32]);
  }
  return values;
}

TEST(Quantize, MakesACheckpointThatLoads) {
  for (const int64_t group : {128, 64, 32, -1}) {
    Job job;
    job.options.group = group;
    const QuantizeReport report = job.run();
    const auto source = Checkpoint::open(job.source);
    const auto result = Checkpoint::open(job.destination);
    EXPECT_TRUE(result.servable());
    EXPECT_EQ(result.quantization().packing_name, "auto_round:auto_gptq");
    EXPECT_EQ(result.quantization().blocks, std::vector<std::string>{"model.layers"});
    ASSERT_EQ(report.layers.size(), 14u);
    for (const LayerError& layer : report.layers) {
      const auto restored = restore(result.load_int4(*result.find(layer.name)));
      const auto original = source.load_float(layer.name + ".weight");
      EXPECT_NEAR(relative_difference(original, restored), layer.relative, 1e-6);
      EXPECT_LT(layer.relative, 0.2);
      EXPECT_GT(layer.relative, 0.01);
    }
    // What is not quantized is the source's, bit by bit.
    for (const char* name :
         {"lm_head.weight", "model.embed_tokens.weight", "model.layers.0.input_layernorm.weight"}) {
      EXPECT_EQ(result.load_float(name), source.load_float(name)) << name;
      EXPECT_EQ(result.tensors().find(name)->dtype(), Dtype::kBF16);
    }
    EXPECT_EQ(
        names_in(job.destination),
        (std::vector<std::string>{"config.json", "model.safetensors", "quantization_config.json",
                                  kJournalName, "tokenizer.json"}));
  }
}

TEST(Quantize, WritesAutoRoundsConfiguration) {
  Job job;
  job.run();
  const auto config = nlohmann::ordered_json::parse(read_file(job.destination / "config.json"));
  const auto beside =
      nlohmann::ordered_json::parse(read_file(job.destination / "quantization_config.json"));
  EXPECT_EQ(config.at("quantization_config"), beside);
  EXPECT_EQ(config.at("hidden_size"), 64);
  EXPECT_EQ(beside.at("bits"), 4);
  EXPECT_EQ(beside.at("group_size"), 32);
  EXPECT_EQ(beside.at("sym"), true);
  EXPECT_EQ(beside.at("iters"), 0);
  EXPECT_EQ(beside.at("data_type"), "int");
  EXPECT_EQ(beside.at("quant_method"), "auto-round");
  EXPECT_EQ(beside.at("block_name_to_quantize"), "model.layers");
  EXPECT_FALSE(beside.contains("extra_config"));
}

TEST(Quantize, MakesMxfp4) {
  Job job;
  job.options.format = QuantizeFormat::kMxfp4;
  const QuantizeReport report = job.run();
  const auto source = Checkpoint::open(job.source);
  const auto result = Checkpoint::open(job.destination);
  EXPECT_TRUE(result.servable());
  EXPECT_DOUBLE_EQ(result.bits_per_weight(), 4.25);
  for (const LayerError& layer : report.layers) {
    const auto restored = restore(result.load_mxfp4(*result.find(layer.name)));
    EXPECT_NEAR(relative_difference(source.load_float(layer.name + ".weight"), restored),
                layer.relative, 1e-6);
    EXPECT_LT(layer.relative, 0.2);
  }
  const auto config = nlohmann::json::parse(read_file(job.destination / "config.json"));
  EXPECT_EQ(config["quantization_config"]["ignore"],
            (nlohmann::json{"lm_head", "model.embed_tokens"}));
}

TEST(Quantize, KeepsLayersThatAutoRoundWouldKeep) {
  CheckpointBuilder builder = small_llama();
  builder.config.erase("model_type");
  builder.add_bf16("model.layers.0.linear_attn.in_proj_a.weight", {48, 64});
  builder.add_bf16("model.layers.0.odd.weight", {64, 40});
  builder.add_bf16("model.layers.0.mlp.gate.weight", {64, 64});
  builder.add_bf16("model.visual.blocks.0.attn.qkv.weight", {64, 64});
  for (const auto format : {QuantizeFormat::kAutoRound, QuantizeFormat::kMxfp4}) {
    Job job(builder);
    job.options.format = format;
    const auto report = job.run();
    EXPECT_EQ(report.kept,
              (std::vector<std::string>{"model.layers.0.linear_attn.in_proj_a",
                                        "model.layers.0.mlp.gate", "model.layers.0.odd"}));
    const auto result = Checkpoint::open(job.destination);
    EXPECT_TRUE(result.servable());
    EXPECT_EQ(result.find("model.layers.0.odd")->verdict, Verdict::kFloat);
    const auto config =
        nlohmann::json::parse(read_file(job.destination / "config.json"))["quantization_config"];
    if (format == QuantizeFormat::kAutoRound) {
      EXPECT_EQ(config["extra_config"]["model.layers.0.odd"],
                (nlohmann::json{{"bits", 16}, {"data_type", "fp"}}));
      EXPECT_EQ(config["extra_config"].size(), 3u);
    } else {
      EXPECT_THAT(config["ignore"], testing::Contains("model.visual.blocks.0.attn.qkv"));
    }
  }
}

TEST(Quantize, TakesAllFloatTypes) {
  CheckpointBuilder builder = small_llama();
  std::vector<float> values(96 * 64);
  std::vector<uint16_t> halves(values.size());
  for (size_t i = 0; i < values.size(); ++i) {
    values[i] = static_cast<float>(i % 37) * 0.01f - 0.18f;
    halves[i] = f32_to_f16(values[i]);
  }
  builder.at(std::string(kUp) + ".weight") = {
      std::string(kUp) + ".weight", "F32", {96, 64}, test::bytes_of(values)};
  builder.at("model.layers.0.mlp.gate_proj.weight") = {
      "model.layers.0.mlp.gate_proj.weight", "F16", {96, 64}, test::bytes_of(halves)};
  Job job(builder);
  job.run();
  const auto result = Checkpoint::open(job.destination);
  EXPECT_LT(relative_difference(values, restore(result.load_int4(*result.find(kUp)))), 0.1);
  EXPECT_LT(relative_difference(
                values, restore(result.load_int4(*result.find("model.layers.0.mlp.gate_proj")))),
            0.1);
}

TEST(Quantize, KeepsShardsAndIndex) {
  Job job;
  fs::remove_all(job.source);
  write_sharded(small_llama(), job.source);
  const auto report = job.run();
  EXPECT_EQ(report.shards, 3u);
  const auto result = Checkpoint::open(job.destination);
  EXPECT_TRUE(result.servable());
  EXPECT_EQ(result.tensors().shards().size(), 3u);
  EXPECT_TRUE(result.tensors().has_index());
}

TEST(Quantize, RefusesOtherDestinations) {
  Job job;
  fs::create_directories(job.destination);
  EXPECT_NO_THROW(job.run());  // an empty one is fine
  Job full;
  fs::create_directories(full.destination);
  write_file(full.destination / "thesis.txt", "mine");
  expect_error(RADIANCE_INVALID_ARGUMENT, {"holds other files"}, [&] { full.run(); });
  EXPECT_EQ(names_in(full.destination), std::vector<std::string>{"thesis.txt"});
  full.destination = full.source;
  expect_error(RADIANCE_INVALID_ARGUMENT, {"both the source and the destination"},
               [&] { full.run(); });
  full.destination = full.source / "config.json";
  expect_error(RADIANCE_INVALID_ARGUMENT, {"not a directory"}, [&] { full.run(); });
  full.options.group = 48;
  expect_error(RADIANCE_INVALID_ARGUMENT, {"group is 48", "128, 64, 32 and -1"},
               [&] { full.run(); });
}

// Refused with these parts, and no destination left behind.
void expect_nothing_written(const Job& job, radiance_status status,
                            std::initializer_list<std::string_view> parts) {
  expect_error(status, parts, [&] { job.run(); });
  EXPECT_FALSE(fs::exists(job.destination));
}

TEST(Quantize, RefusesSourcesItCannotUse) {
  CheckpointBuilder builder = small_llama();
  auto& weight = builder.at("model.layers.1.mlp.up_proj.weight");
  weight.bytes[2 * (3 * 64 + 5)] = '\x80';
  weight.bytes[2 * (3 * 64 + 5) + 1] = '\x7f';  // bf16 infinity
  expect_nothing_written(
      Job(builder), RADIANCE_BAD_INPUT,
      {"'model.layers.1.mlp.up_proj.weight'", "model.safetensors", "[3][5]", "inf"});
  {
    Job sharded;  // the first shard is good
    fs::remove_all(sharded.source);
    write_sharded(builder, sharded.source);
    expect_nothing_written(sharded, RADIANCE_BAD_INPUT, {"layers.1.mlp.up_proj", "m-1"});
  }
  expect_nothing_written(Job(test::small_quantized_llama()), RADIANCE_UNSUPPORTED,
                         {"quantized already", "auto_round:auto_gptq"});
  builder = small_llama();
  builder.remove("model.layers.1.mlp.up_proj.weight");
  expect_nothing_written(Job(builder), RADIANCE_BAD_INPUT, {"left unfilled"});
  builder = small_llama();
  builder.config["model_type"] = "gpt2";
  expect_nothing_written(Job(builder), RADIANCE_UNSUPPORTED, {"gpt2", "transposed"});
  builder = CheckpointBuilder();
  builder.add_bf16("model.embed_tokens.weight", {64, 64});
  expect_nothing_written(Job(builder), RADIANCE_UNSUPPORTED, {"no linear layer to quantize"});
  builder = small_llama();
  auto& fp8 = builder.at(std::string(kUp) + ".weight");
  fp8 = {fp8.name, "F8_E4M3", {96, 64}, std::string(96 * 64, '8')};
  expect_nothing_written(Job(builder), RADIANCE_UNSUPPORTED, {kUp, "F8_E4M3", "BF16, F16 and F32"});
}

TEST(Quantize, ReportsProgress) {
  Job job;
  std::vector<QuantizeProgress> seen;
  job.options.progress = [&](const QuantizeProgress& progress) { seen.push_back(progress); };
  const auto report = job.run();
  ASSERT_EQ(seen.size(), small_llama().tensors.size());
  EXPECT_EQ(seen.back().bytes_done, seen.back().bytes);
  EXPECT_EQ(seen.back().bytes, report.source_bytes);
}

}  // namespace
}  // namespace radiance
