#include "checkpoint/checkpoint.hpp"

#include <gmock/gmock.h>

#include <algorithm>

#include "support.hpp"

namespace radiance {
namespace {

using test::CheckpointBuilder;
using test::expect_error;
using test::Int4Fixture;
using test::small_llama;
using test::small_quantized_llama;
using test::TempDir;
using test::write_file;
using testing::Contains;
using testing::HasSubstr;

constexpr const char* kUp = "model.layers.0.mlp.up_proj";

Checkpoint open(const CheckpointBuilder& builder, const TempDir& dir, bool allow = false) {
  builder.write(dir.path());
  return Checkpoint::open(dir.path(), {.allow_problems = allow});
}

// The checkpoint is refused with these parts in the sentence, and with allow_problems only listed.
void expect_problem(const CheckpointBuilder& builder,
                    std::initializer_list<std::string_view> parts) {
  TempDir dir;
  builder.write(dir.path());
  expect_error(RADIANCE_BAD_INPUT, parts, [&] { Checkpoint::open(dir.path()); });
  const auto checkpoint = Checkpoint::open(dir.path(), {.allow_problems = true});
  EXPECT_FALSE(checkpoint.problems().empty());
  EXPECT_FALSE(checkpoint.servable());
}

// It opens, but the module is refused for this reason and cannot be loaded.
void expect_refused_module(const CheckpointBuilder& builder, const char* name,
                           std::initializer_list<std::string_view> parts) {
  TempDir dir;
  const auto checkpoint = open(builder, dir);
  EXPECT_FALSE(checkpoint.servable());
  const LinearModule* module = checkpoint.find(name);
  ASSERT_NE(module, nullptr);
  for (const auto part : parts) EXPECT_THAT(module->reason, HasSubstr(std::string(part)));
  expect_error(RADIANCE_UNSUPPORTED, parts, [&] { checkpoint.load_linear(*module); });
}

TEST(Checkpoint, OpensAWholeModel) {
  TempDir dir;
  const auto checkpoint = open(small_quantized_llama(), dir);
  EXPECT_TRUE(checkpoint.servable());
  EXPECT_THAT(checkpoint.problems(), testing::IsEmpty());
  EXPECT_EQ(checkpoint.modules().size(), 15u);  // and lm_head
  const LinearModule* down = checkpoint.find("model.layers.1.mlp.down_proj");
  ASSERT_NE(down, nullptr);
  EXPECT_EQ(down->n, 64);
  EXPECT_EQ(down->k, 96);
  EXPECT_EQ(down->scheme.group, 32);
  EXPECT_EQ(down->zero, ZeroKind::kConstant8);
  EXPECT_EQ(down->verdict, Verdict::kServable);
  EXPECT_EQ(checkpoint.find("lm_head")->verdict, Verdict::kFloat);
  EXPECT_THAT(checkpoint.passed_through(), Contains("model.embed_tokens.weight"));
  EXPECT_DOUBLE_EQ(checkpoint.bits_per_weight(), 4 + 16.0 / 32 + 4.0 / 32);
}

TEST(Checkpoint, OpensAFloatModel) {
  TempDir dir;
  const auto checkpoint = open(small_llama(), dir);
  EXPECT_FALSE(checkpoint.servable());
  EXPECT_EQ(checkpoint.bits_per_weight(), 0);
  EXPECT_EQ(checkpoint.find(kUp)->verdict, Verdict::kFloat);
  expect_error(RADIANCE_UNSUPPORTED, {kUp, "not quantized"},
               [&] { checkpoint.load_linear(*checkpoint.find(kUp)); });
}

TEST(Checkpoint, AcceptsAPartOfAModel) {
  CheckpointBuilder builder = small_quantized_llama();
  builder.config["num_hidden_layers"] = 1;
  std::erase_if(builder.tensors,
                [](const auto& tensor) { return !tensor.name.starts_with("model.layers.0."); });
  TempDir dir;
  const auto checkpoint = open(builder, dir);
  EXPECT_TRUE(checkpoint.servable());
  EXPECT_THAT(checkpoint.notes(), Contains(HasSubstr("part of a model")));
}

TEST(Checkpoint, RefusesWhatIsNone) {
  TempDir dir;
  expect_error(RADIANCE_BAD_INPUT, {"no checkpoint", "config.json"},
               [&] { Checkpoint::open(dir.path()); });
  write_file(dir / "config.json", "{}");
  expect_error(RADIANCE_BAD_INPUT, {"no checkpoint", "model.safetensors"},
               [&] { Checkpoint::open(dir.path()); });
  write_file(dir / "config.json", R"({"hidden_size": 1, "hidden_size": 2})");
  expect_error(RADIANCE_BAD_INPUT, {"config.json", "'hidden_size'", "twice"},
               [&] { Checkpoint::open(dir.path()); });
  write_file(dir / "config.json", R"({"hidden_size": -1})");
  expect_error(RADIANCE_BAD_INPUT, {"hidden_size is -1"}, [&] { Checkpoint::open(dir.path()); });
}

TEST(Checkpoint, RefusesMissingSiblings) {
  for (const char* part : {".qweight", ".qzeros", ".scales"}) {
    CheckpointBuilder builder = small_quantized_llama();
    builder.remove(std::string(kUp) + part);
    expect_problem(builder, {kUp, "lacks", part});
  }
}

TEST(Checkpoint, RefusesUnfilledModules) {
  CheckpointBuilder builder = small_quantized_llama();
  for (const char* part : {".qweight", ".qzeros", ".scales"}) {
    builder.remove(std::string(kUp) + part);
  }
  expect_problem(builder, {kUp, "left unfilled"});
  builder = small_quantized_llama();
  builder.config["num_hidden_layers"] = 10'000;
  expect_problem(builder, {"have no tensors", "the first is 'model.layers.2.self_attn.q_proj'"});
  builder = small_quantized_llama();
  builder.remove("lm_head.weight");
  expect_problem(builder, {"'lm_head' is left unfilled"});
  builder = small_quantized_llama();
  builder.remove("model.norm.weight");
  expect_problem(builder, {"'norm' is left unfilled"});
}

TEST(Checkpoint, TiedEmbeddingsNeedNoLmHead) {
  CheckpointBuilder builder = small_quantized_llama();
  builder.remove("lm_head.weight");
  builder.config["tie_word_embeddings"] = true;
  TempDir dir;
  const auto checkpoint = open(builder, dir);
  EXPECT_TRUE(checkpoint.servable());
  EXPECT_THAT(checkpoint.notes(), Contains(HasSubstr("tied")));
}

TEST(Checkpoint, RefusesTensorsThatNothingReads) {
  CheckpointBuilder builder = small_quantized_llama();
  builder.add({"model.layers.0.mlp.up_proj.perm", "I64", {1}, std::string(8, '\0')});
  expect_problem(builder, {"up_proj.perm", "read by nothing"});
  builder = small_quantized_llama();
  builder.config["num_hidden_layers"] = 1;
  expect_problem(builder, {"'model.layers.1.'", "read by nothing"});
}

TEST(Checkpoint, RefusesWeightsAgainstTheirScheme) {
  CheckpointBuilder builder = small_quantized_llama();
  for (const char* part : {".qweight", ".qzeros", ".scales"}) {
    builder.remove(std::string(kUp) + part);
  }
  builder.add_bf16(std::string(kUp) + ".weight", {96, 64});
  expect_problem(builder, {kUp, "BF16", "is quantized by the configuration"});

  builder = small_quantized_llama();
  builder.config["quantization_config"]["extra_config"][kUp] = {{"bits", 16}, {"data_type", "fp"}};
  builder.config["quantization_config"]["extra_config"]["model.layers.0.mlp.gate_proj"] = {
      {"bits", 16}};
  expect_problem(builder, {kUp, "is 16-bit by the configuration"});

  builder = small_quantized_llama();
  builder.add_bf16(std::string(kUp) + ".weight", {96, 64});
  expect_problem(builder, {kUp, "both a quantized and a float weight"});
}

TEST(Checkpoint, AcceptsListedFloatLayers) {
  CheckpointBuilder builder = small_quantized_llama();
  for (const char* name : {"model.layers.0.mlp.up_proj", "model.layers.0.mlp.gate_proj"}) {
    for (const char* part : {".qweight", ".qzeros", ".scales"}) {
      builder.remove(std::string(name) + part);
    }
    builder.add_bf16(std::string(name) + ".weight", {96, 64});
  }
  builder.config["quantization_config"]["extra_config"] = {
      {".*layers.0.mlp.(up|gate)_proj", {{"bits", 16}}}, {"model.nowhere", {{"bits", 16}}}};
  TempDir dir;
  const auto checkpoint = open(builder, dir);
  EXPECT_TRUE(checkpoint.servable());
  EXPECT_EQ(checkpoint.find(kUp)->verdict, Verdict::kFloat);
  EXPECT_THAT(checkpoint.notes(), Contains(HasSubstr("'model.nowhere'")));
}

TEST(Checkpoint, RefusesFusedMembersThatDiffer) {
  CheckpointBuilder builder = small_quantized_llama();
  builder.config["quantization_config"]["extra_config"]["model.layers.1.self_attn.k_proj"] = {
      {"group_size", 64}};
  auto& scales = builder.at("model.layers.1.self_attn.k_proj.scales");
  scales.shape[0] = 1;
  scales.bytes.resize(scales.bytes.size() / 2);
  auto& zeros = builder.at("model.layers.1.self_attn.k_proj.qzeros");
  zeros.shape[0] = 1;
  zeros.bytes.resize(zeros.bytes.size() / 2);
  expect_problem(builder, {"q_proj'", "k_proj'", "different schemes"});
}

TEST(Checkpoint, RefusesShapesThatContradictTheConfiguration) {
  CheckpointBuilder builder = small_quantized_llama();
  builder.config["quantization_config"]["group_size"] = 64;
  expect_problem(builder, {".scales", "[2, 96]", "group_size 64", "[1, 96]"});
  builder = small_quantized_llama();
  builder.config["intermediate_size"] = 128;
  expect_problem(builder, {"gate_proj", "N 96", "config.json gives N 128"});
  builder = small_quantized_llama();
  builder.config["quantization_config"]["bits"] = 8;
  expect_problem(builder, {"_proj'", "at 8 bits (supported are 4)", "config.json gives"});
  builder = small_quantized_llama();
  builder.at(std::string(kUp) + ".qzeros").shape = {1, 24};
  expect_problem(builder, {".qzeros", "[1, 24]"});
  builder = small_quantized_llama();
  builder.at(std::string(kUp) + ".qweight").shape = {8 * 96};
  expect_problem(builder, {".qweight", "two dimensions"});
}

TEST(Checkpoint, RefusesDtypesThatContradictTheConfiguration) {
  CheckpointBuilder builder = small_quantized_llama();
  builder.at(std::string(kUp) + ".scales").dtype = "BF16";
  expect_problem(builder, {".scales", "BF16", "supported is F16"});
  builder = small_quantized_llama();
  builder.at(std::string(kUp) + ".qweight").dtype = "F32";
  expect_problem(builder, {".qweight", "F32", "I32"});
}

TEST(Checkpoint, RefusesScalesThatAreNotFinite) {
  CheckpointBuilder builder = small_quantized_llama();
  auto& scales = builder.at(std::string(kUp) + ".scales").bytes;
  for (const size_t at : {100u, 150u}) {
    scales[2 * at] = '\0';
    scales[2 * at + 1] = '\x7c';  // +infinity
  }
  expect_problem(builder, {".scales", "2 scales that are not finite", "[1][4]"});
}

TEST(Checkpoint, RefusesZerosThatContradictSym) {
  CheckpointBuilder builder = small_quantized_llama();
  auto& zeros = builder.at(std::string(kUp) + ".qzeros").bytes;
  zeros[4 * 14] = '\x76';
  expect_problem(builder, {".qzeros", "1 of 24 words", "[1][2]", "0x77777776", "sym"});
  // v2's zeros under v1's name.
  std::fill(zeros.begin(), zeros.end(), '\x88');
  expect_problem(builder, {"24 of 24 words", "as gptq_v2 would store"});
}

TEST(Checkpoint, RefusesConfigurationsThatDisagree) {
  CheckpointBuilder builder = small_quantized_llama();
  TempDir dir;
  builder.write(dir.path());
  auto other = CheckpointBuilder::auto_round(64);
  write_file(dir / "quantization_config.json", other.dump());
  expect_error(RADIANCE_BAD_INPUT, {"group 32", "group 64", "disagree"},
               [&] { Checkpoint::open(dir.path()); });
  other["group_size"] = 32;
  write_file(dir / "quantization_config.json", other.dump());
  EXPECT_TRUE(Checkpoint::open(dir.path()).servable());
  // Alone, it counts.
  builder.config.erase("quantization_config");
  write_file(dir / "config.json", builder.config.dump());
  EXPECT_TRUE(Checkpoint::open(dir.path()).servable());
}

TEST(Checkpoint, RefusesUnindexedTensors) {
  CheckpointBuilder builder = small_quantized_llama();
  TempDir dir;
  builder.write(dir.path());
  nlohmann::json map;
  for (const auto& tensor : builder.tensors) map[tensor.name] = "model.safetensors";
  map.erase("model.norm.weight");
  write_file(dir / "model.safetensors.index.json", nlohmann::json{{"weight_map", map}}.dump());
  expect_error(RADIANCE_BAD_INPUT, {"'model.norm.weight'", "index does not name it"},
               [&] { Checkpoint::open(dir.path()); });
}

TEST(Checkpoint, RefusesOtherBitsByName) {
  CheckpointBuilder builder = small_quantized_llama();
  builder.config["quantization_config"]["bits"] = 8;
  builder.config.erase("model_type");
  expect_refused_module(builder, kUp, {"bits is 8", "supported is 4"});
}

TEST(Checkpoint, RefusesUnknownPackingsByName) {
  CheckpointBuilder builder = small_quantized_llama();
  builder.config["quantization_config"]["packing_format"] = "auto_round:tritonv2";
  expect_refused_module(builder, kUp, {"'auto_round:tritonv2'", "unknown"});
}

TEST(Checkpoint, RefusesGroupsThatAreNoMultipleOf8) {
  CheckpointBuilder builder = small_quantized_llama();
  builder.config["quantization_config"]["group_size"] = 36;
  expect_refused_module(builder, kUp, {"group_size is 36"});
}

TEST(Checkpoint, RefusesAwqWithKNoMultipleOf8) {
  CheckpointBuilder builder;
  builder.config["quantization_config"] = {
      {"quant_method", "awq"}, {"bits", 4}, {"group_size", 4}, {"zero_point", false}};
  const std::string name = "model.layers.0.mlp.up_proj";
  builder.add({name + ".qweight", "I32", {12, 4}, std::string(12 * 4 * 4, '\x88')});
  builder.add({name + ".qzeros", "I32", {3, 4}, std::string(3 * 4 * 4, '\x88')});
  builder.add({name + ".scales", "F16", {3, 32}, std::string(3 * 32 * 2, '\0')});
  expect_refused_module(builder, kUp, {"K is 12", "multiples of 8"});
}

TEST(Checkpoint, AcceptsATrivialGroupIndexAndRefusesAPermutation) {
  CheckpointBuilder builder = small_quantized_llama();
  std::vector<int32_t> g_idx(64);
  for (size_t k = 0; k < 64; ++k) g_idx[k] = static_cast<int32_t>(k / 32);
  builder.add({std::string(kUp) + ".g_idx", "I32", {64}, test::bytes_of(g_idx)});
  {
    TempDir dir;
    const auto checkpoint = open(builder, dir);
    EXPECT_TRUE(checkpoint.servable());
    EXPECT_EQ(checkpoint.find(kUp)->g_idx, GroupIndex::kTrivial);
  }
  std::swap(g_idx[5], g_idx[40]);
  builder.at(std::string(kUp) + ".g_idx").bytes = test::bytes_of(g_idx);
  expect_refused_module(builder, kUp, {"g_idx", "permutes", "k 5 belongs to group 1"});
  builder.at(std::string(kUp) + ".g_idx").shape = {2, 32};
  expect_problem(builder, {"g_idx", "[2, 32]"});
}

TEST(Checkpoint, ChecksValuesOnlyWhenAsked) {
  CheckpointBuilder builder = small_quantized_llama();
  builder.at(std::string(kUp) + ".qzeros").bytes[0] = '\x00';
  TempDir dir;
  builder.write(dir.path());
  const auto checkpoint = Checkpoint::open(dir.path(), {.check_values = false});
  EXPECT_EQ(checkpoint.find(kUp)->zero, ZeroKind::kUnchecked);
  // Loading checks all the same.
  expect_error(RADIANCE_UNSUPPORTED, {"asymmetric zeros"},
               [&] { checkpoint.load_linear(*checkpoint.find(kUp)); });
}

TEST(Checkpoint, KnowsTheLayersOfQwen35) {
  // Layer 3 has full attention; in_proj_a and in_proj_b have N = 48, which stays 16-bit.
  CheckpointBuilder builder;
  builder.config = {{"model_type", "qwen3_5"},
                    {"text_config",
                     {{"model_type", "qwen3_5_text"},
                      {"hidden_size", 64},
                      {"num_hidden_layers", 1},
                      {"intermediate_size", 96},
                      {"num_attention_heads", 2},
                      {"num_key_value_heads", 1},
                      {"head_dim", 32},
                      {"linear_num_key_heads", 2},
                      {"linear_num_value_heads", 6},
                      {"linear_key_head_dim", 32},
                      {"linear_value_head_dim", 32}}},
                    {"quantization_config", CheckpointBuilder::auto_round(32)}};
  auto& quantization = builder.config["quantization_config"];
  quantization["block_name_to_quantize"] = {"model.language_model.layers"};
  const std::string prefix = "model.language_model.layers.0.";
  for (const char* name : {"linear_attn.in_proj_a", "linear_attn.in_proj_b"}) {
    builder.add_bf16(prefix + name + ".weight", {6, 64});
    quantization["extra_config"][prefix + name] = {{"bits", 16}, {"data_type", "fp"}};
  }
  builder.add(Int4Fixture(320, 64, 32, 1).gptq(prefix + "linear_attn.in_proj_qkv", 1));
  builder.add(Int4Fixture(192, 64, 32, 2).gptq(prefix + "linear_attn.in_proj_z", 1));
  builder.add(Int4Fixture(64, 192, 32, 3).gptq(prefix + "linear_attn.out_proj", 1));
  builder.add(Int4Fixture(96, 64, 32, 4).gptq(prefix + "mlp.gate_proj", 1));
  builder.add(Int4Fixture(96, 64, 32, 5).gptq(prefix + "mlp.up_proj", 1));
  builder.add(Int4Fixture(64, 96, 32, 6).gptq(prefix + "mlp.down_proj", 1));
  builder.add_bf16(prefix + "linear_attn.conv1d.weight", {320, 1, 4});
  builder.add_bf16(prefix + "linear_attn.A_log", {6});
  {
    TempDir dir;
    EXPECT_TRUE(open(builder, dir).servable());
  }
  builder.config["text_config"]["layer_types"] = {"full_attention"};
  expect_problem(builder, {"self_attn.q_proj", "left unfilled"});
}

}  // namespace
}  // namespace radiance
