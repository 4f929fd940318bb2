#include "checkpoint/quantization_config.hpp"

#include "support.hpp"

namespace radiance {
namespace {

using test::expect_error;

QuantizationConfig parse(const char* text) {
  return parse_quantization_config(nlohmann::json::parse(text), "q.json");
}

void expect_refused(radiance_status status, const char* text,
                    std::initializer_list<std::string_view> parts) {
  expect_error(status, parts, [&] { parse(text); });
}

TEST(QuantizationConfig, ReadsAutoRound) {
  const auto config = parse(R"({"bits": 4, "data_type": "int", "group_size": 128, "sym": true,
      "autoround_version": "0.12.3", "block_name_to_quantize": "model.language_model.layers",
      "quant_method": "auto-round", "packing_format": "auto_round:auto_gptq",
      "extra_config": {"model.language_model.layers.0.linear_attn.in_proj_a":
                       {"bits": 16, "data_type": "fp"}}})");
  EXPECT_EQ(config.packing, Packing::kGptqV1);
  EXPECT_EQ(config.bits, 4);
  EXPECT_EQ(config.group, 128);
  EXPECT_TRUE(config.sym);
  EXPECT_EQ(config.blocks, std::vector<std::string>{"model.language_model.layers"});
  ASSERT_EQ(config.overrides.size(), 1u);
  EXPECT_EQ(config.overrides[0].bits, 16);
  EXPECT_FALSE(config.overrides[0].pattern);
}

TEST(QuantizationConfig, ReadsBlockLists) {
  const char* lists[] = {R"(["a.layers", "b.layers"])", R"([["a.layers"], ["b.layers"]])",
                         R"("a.layers, b.layers")"};
  for (const char* list : lists) {
    const auto config = parse((std::string(R"({"bits": 4, "quant_method": "auto-round",
        "packing_format": "auto_round:auto_awq", "block_name_to_quantize": )") +
                               list + "}")
                                  .c_str());
    EXPECT_EQ(config.packing, Packing::kAwq);
    EXPECT_EQ(config.blocks, (std::vector<std::string>{"a.layers", "b.layers"}));
  }
}

TEST(QuantizationConfig, ReadsGptq) {
  EXPECT_EQ(parse(R"({"quant_method": "gptq", "bits": 4, "group_size": -1})").packing,
            Packing::kGptqV1);
  const auto v2 = parse(R"({"quant_method": "gptq", "bits": 4, "checkpoint_format": "gptq_v2",
      "desc_act": true, "dynamic": {}, "lm_head": false,
      "modules_in_block_to_quantize": [["self_attn.q_proj"], ["mlp.up_proj"]]})");
  EXPECT_EQ(v2.packing, Packing::kGptqV2);
  EXPECT_TRUE(v2.desc_act);
  EXPECT_EQ(v2.only_modules.size(), 2u);
  EXPECT_EQ(parse(R"({"bits": 4, "group_size": 64})").packing, Packing::kGptqV1);
  EXPECT_EQ(parse(R"({"quant_method": "gptq", "bits": 4, "checkpoint_format": "marlin"})").packing,
            Packing::kUnknown);
}

TEST(QuantizationConfig, ReadsAwq) {
  const auto config = parse(R"({"quant_method": "awq", "w_bit": 4, "q_group_size": 64,
      "zero_point": true, "version": "gemm", "modules_to_not_convert": ["mlp.gate"]})");
  EXPECT_EQ(config.packing, Packing::kAwq);
  EXPECT_FALSE(config.sym);
  EXPECT_EQ(config.group, 64);
  EXPECT_EQ(config.not_converted, std::vector<std::string>{"mlp.gate"});
  EXPECT_EQ(parse(R"({"quant_method": "awq", "bits": 4, "version": "gemv"})").packing,
            Packing::kUnknown);
}

constexpr const char* kMxfp4 = R"({"quant_method": "compressed-tensors",
    "format": "mxfp4-pack-quantized", "ignore": ["lm_head", "re:.*visual.*"],
    "config_groups": {"group_0": {"targets": ["Linear"], "input_activations": null,
      "weights": {"num_bits": 4, "type": "float", "group_size": 32, "symmetric": true}}}})";

TEST(QuantizationConfig, ReadsMxfp4) {
  const auto config = parse(kMxfp4);
  EXPECT_EQ(config.packing, Packing::kMxfp4);
  EXPECT_EQ(config.group, 32);
  EXPECT_EQ(config.ignored, std::vector<std::string>{"lm_head"});
  EXPECT_EQ(config.ignored_patterns.size(), 1u);
}

TEST(QuantizationConfig, RefusesMxfp4ThatContradictsItself) {
  auto json = nlohmann::json::parse(kMxfp4);
  json["config_groups"]["group_0"]["weights"]["group_size"] = 16;
  expect_error(RADIANCE_BAD_INPUT, {"group_size 16", "contradicts"},
               [&] { parse_quantization_config(json, "q.json"); });
  json["config_groups"] = nlohmann::json::object();
  expect_error(RADIANCE_BAD_INPUT, {"config_groups"},
               [&] { parse_quantization_config(json, "q.json"); });
}

TEST(QuantizationConfig, RecordsWhatIsUnknown) {
  for (const char* text :
       {R"({"quant_method": "auto-round", "bits": 4, "packing_format": "auto_round:tritonv2"})",
        R"({"quant_method": "auto-round", "bits": 4, "data_type": "mx_fp",
            "packing_format": "auto_round:auto_gptq"})",
        R"({"quant_method": "bitsandbytes", "load_in_4bit": true})",
        R"({"quant_method": "compressed-tensors", "format": "pack-quantized",
            "config_groups": {"g": {"weights": {"num_bits": 4}}}})"}) {
    EXPECT_EQ(parse(text).packing, Packing::kUnknown) << text;
  }
  EXPECT_EQ(parse(R"({"quant_method": "gptq", "bits": 8})").bits, 8);
}

TEST(QuantizationConfig, RefusesWrongTypesAndValues) {
  expect_refused(RADIANCE_BAD_INPUT, "[]", {"q.json", "JSON object"});
  expect_refused(RADIANCE_BAD_INPUT, R"({"quant_method": 4})", {"quant_method is 4"});
  expect_refused(RADIANCE_BAD_INPUT, R"({"bits": "4"})", {"bits is '4'"});
  expect_refused(RADIANCE_BAD_INPUT, R"({"bits": 0})", {"bits is 0", "supported is 4"});
  expect_refused(RADIANCE_BAD_INPUT, R"({"bits": 4, "group_size": 0})", {"group_size is 0"});
  expect_refused(RADIANCE_BAD_INPUT, R"({"bits": 4, "sym": 1})", {"sym is 1"});
  expect_refused(RADIANCE_BAD_INPUT, R"({"quant_method": "gptq"})", {"gives no bits"});
  expect_refused(RADIANCE_BAD_INPUT,
                 R"({"quant_method": "auto-round", "bits": 4, "extra_config": []})",
                 {"extra_config"});
  expect_refused(RADIANCE_BAD_INPUT,
                 R"({"quant_method": "auto-round", "bits": 4, "extra_config": {"x": 16}})",
                 {"'x'"});
  expect_refused(
      RADIANCE_BAD_INPUT,
      R"({"quant_method": "auto-round", "bits": 4, "extra_config": {"x(": {"bits": 16}}})",
      {"'x('", "regular expression"});
  expect_refused(RADIANCE_UNSUPPORTED,
                 R"({"quant_method": "gptq", "bits": 4, "dynamic": {"+:x": {"bits": 8}}})",
                 {"dynamic"});
}

}  // namespace
}  // namespace radiance
