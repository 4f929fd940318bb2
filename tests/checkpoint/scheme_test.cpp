#include "checkpoint/scheme.hpp"

#include "support.hpp"

namespace radiance {
namespace {

using test::expect_error;

QuantizationConfig auto_round(const char* extra, const char* blocks = R"("model.layers")") {
  return parse_quantization_config(
      nlohmann::json::parse(std::string(R"({"bits": 4, "group_size": 128, "sym": true,
          "quant_method": "auto-round", "packing_format": "auto_round:auto_gptq",
          "block_name_to_quantize": )") +
                            blocks + R"(, "extra_config": )" + extra + "}"),
      "q.json");
}

TEST(Scheme, BlocksMatchAtNameBoundaries) {
  const auto config = auto_round("{}", R"(["model.layers.1"])");
  EXPECT_TRUE(scheme_of(config, "model.layers.1.mlp.up_proj").quantized);
  EXPECT_FALSE(scheme_of(config, "model.layers.10.mlp.up_proj").quantized);
  EXPECT_FALSE(scheme_of(config, "model.layers.0.mlp.up_proj").quantized);
  EXPECT_TRUE(scheme_of(config, "layers.1.mlp.up_proj").quantized);
}

TEST(Scheme, OutsideTheBlocksIsSixteenBit) {
  const auto config = auto_round("{}");
  EXPECT_FALSE(scheme_of(config, "model.visual.blocks.0.attn.qkv").quantized);
  EXPECT_FALSE(scheme_of(config, "mtp.layers.0.mlp.up_proj").quantized);
  EXPECT_FALSE(scheme_of(config, "lm_head").quantized);
  EXPECT_TRUE(scheme_of(auto_round(R"({"lm_head": {"bits": 4}})"), "lm_head").quantized);
}

TEST(Scheme, WithoutABlockListTheNumberedBlocksCount) {
  const auto config = auto_round("{}", "null");
  EXPECT_TRUE(scheme_of(config, "model.layers.3.mlp.up_proj").quantized);
  EXPECT_TRUE(scheme_of(config, "transformer.h.3.mlp.up_proj").quantized);
  EXPECT_FALSE(scheme_of(config, "mtp.layers.0.mlp.up_proj").quantized);
  EXPECT_FALSE(scheme_of(config, "model.visual.blocks.0.attn.qkv").quantized);
  EXPECT_FALSE(scheme_of(config, "model.embed_tokens").quantized);
}

TEST(Scheme, ExactNamesComeBeforePatterns) {
  const auto config = auto_round(R"({".*mlp.*up_proj": {"bits": 8},
      "model.layers.0.mlp.up_proj": {"bits": 16, "data_type": "fp"}})");
  EXPECT_FALSE(scheme_of(config, "model.layers.0.mlp.up_proj").quantized);
  EXPECT_EQ(scheme_of(config, "model.layers.1.mlp.up_proj").bits, 8);
  EXPECT_EQ(scheme_of(config, "model.layers.1.mlp.gate_proj").bits, 4);
}

TEST(Scheme, NamesMatchWithAndWithoutModel) {
  const auto with = auto_round(R"({"model.layers.0.mlp.up_proj": {"bits": 16}})");
  const auto without = auto_round(R"({"layers.0.mlp.up_proj": {"bits": 16}})");
  for (const char* name : {"model.layers.0.mlp.up_proj", "layers.0.mlp.up_proj"}) {
    EXPECT_FALSE(scheme_of(with, name).quantized) << name;
    EXPECT_FALSE(scheme_of(without, name).quantized) << name;
  }
  EXPECT_TRUE(scheme_of(with, "model.layers.00.mlp.up_proj").quantized);
}

TEST(Scheme, TheLongestPatternWins) {
  const auto config = auto_round(R"({".*up_proj": {"bits": 8, "group_size": 32},
      ".*layers.1.*up_proj": {"group_size": 64}, ".*mlp.*": {"sym": false}})");
  EXPECT_EQ(scheme_of(config, "model.layers.0.mlp.up_proj").bits, 8);
  const auto longest = scheme_of(config, "model.layers.1.mlp.up_proj");
  EXPECT_EQ(longest.group, 64);
  EXPECT_EQ(longest.bits, 4);
  EXPECT_FALSE(scheme_of(config, "model.layers.0.mlp.gate_proj").sym);
}

TEST(Scheme, APlainKeyIsNoPattern) {
  // '.' occurs in every name: without another special character the key is a name.
  const auto config = auto_round(R"({"layers.0.mlp": {"bits": 16}})");
  EXPECT_TRUE(scheme_of(config, "model.layers.0.mlp.up_proj").quantized);
}

TEST(Scheme, FusedMembersMustAgree) {
  const auto agree = auto_round(R"({"model.layers.0.linear_attn.in_proj_a": {"bits": 16},
                                    "model.layers.0.linear_attn.in_proj_b": {"bits": 16}})");
  EXPECT_FALSE(scheme_of(agree, "model.layers.0.linear_attn.in_proj_ba").quantized);
  EXPECT_TRUE(scheme_of(agree, "model.layers.0.linear_attn.in_proj_qkvz").quantized);
  const auto differ = auto_round(R"({"model.layers.0.self_attn.k_proj": {"bits": 16}})");
  expect_error(RADIANCE_BAD_INPUT, {"q_proj'", "k_proj'", "qkv_proj'", "different"},
               [&] { scheme_of(differ, "model.layers.0.self_attn.qkv_proj"); });
  // An entry for the fused name itself settles it.
  const auto named = auto_round(R"({"model.layers.0.self_attn.qkv_proj": {"bits": 16},
                                    "model.layers.0.self_attn.k_proj": {"bits": 16}})");
  EXPECT_FALSE(scheme_of(named, "model.layers.0.self_attn.qkv_proj").quantized);
}

TEST(Scheme, CompressedTensorsIgnores) {
  const auto config =
      parse_quantization_config(nlohmann::json::parse(R"({"quant_method": "compressed-tensors",
          "format": "mxfp4-pack-quantized", "ignore": ["lm_head", "re:.*mlp.gate$"],
          "config_groups": {"group_0": {"targets": ["Linear"],
            "weights": {"num_bits": 4, "type": "float", "group_size": 32}}}})"),
                                "q.json");
  EXPECT_FALSE(scheme_of(config, "lm_head").quantized);
  EXPECT_FALSE(scheme_of(config, "model.layers.0.mlp.gate").quantized);
  EXPECT_TRUE(scheme_of(config, "model.layers.0.mlp.gate_proj").quantized);
}

TEST(Scheme, GptqListsAndAwqExclusions) {
  const auto gptq = parse_quantization_config(
      nlohmann::json::parse(R"({"quant_method": "gptq", "bits": 4, "lm_head": true,
                                "modules_in_block_to_quantize": [["self_attn.q_proj"]]})"),
      "q.json");
  EXPECT_TRUE(scheme_of(gptq, "model.layers.0.self_attn.q_proj").quantized);
  EXPECT_FALSE(scheme_of(gptq, "model.layers.0.mlp.up_proj").quantized);
  EXPECT_TRUE(scheme_of(gptq, "lm_head").quantized);
  const auto awq =
      parse_quantization_config(nlohmann::json::parse(R"({"quant_method": "awq", "bits": 4,
                                "modules_to_not_convert": ["mlp.gate", "layers.1"]})"),
                                "q.json");
  EXPECT_FALSE(scheme_of(awq, "model.layers.0.mlp.gate").quantized);
  EXPECT_TRUE(scheme_of(awq, "model.layers.0.mlp.gate_proj").quantized);
  EXPECT_FALSE(scheme_of(awq, "model.layers.1.mlp.up_proj").quantized);
  EXPECT_TRUE(scheme_of(awq, "model.layers.10.mlp.up_proj").quantized);
}

}  // namespace
}  // namespace radiance
