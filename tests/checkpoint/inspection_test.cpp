#include "checkpoint/inspection.hpp"

#include <gmock/gmock.h>

#include "support.hpp"

namespace radiance {
namespace {

using test::small_llama;
using test::small_quantized_llama;
using test::TempDir;
using testing::HasSubstr;

TEST(Inspection, SaysWhatTheCheckpointIs) {
  TempDir dir;
  small_quantized_llama().write(dir.path());
  const auto checkpoint = Checkpoint::open(dir.path());
  const Inspection inspection = inspect(checkpoint);
  EXPECT_EQ(inspection.packing, "auto_round:auto_gptq");
  EXPECT_EQ(inspection.quantized, 14u);
  EXPECT_EQ(inspection.unquantized, 1u);
  EXPECT_EQ(inspection.zero, "8");
  EXPECT_EQ(inspection.refused, 0u);
  EXPECT_TRUE(inspection.servable);
  const std::string text = inspection_text(checkpoint, inspection, false);
  EXPECT_THAT(text, HasSubstr("is 0x77777777, zero = 8 everywhere"));
  EXPECT_THAT(text,
              HasSubstr("qweight [K/8, N] i32, qzeros [K/32, N/8] i32, scales [K/32, N] f16"));
  EXPECT_THAT(text, HasSubstr("4.6250"));
  EXPECT_THAT(text, HasSubstr("model.layers.*.mlp.gate_proj, model.layers.*.mlp.up_proj"));
  EXPECT_THAT(text, HasSubstr("6 other float tensors: model.embed_tokens.weight, "
                              "model.layers.*.input_layernorm.weight (2), "));
  EXPECT_THAT(text, HasSubstr("every quantized layer can be served"));
  EXPECT_THAT(inspection_text(checkpoint, inspection, true),
              HasSubstr("model.layers.1.mlp.down_proj.qweight"));
}

TEST(Inspection, CountsOneLineAShape) {
  TempDir dir;
  small_quantized_llama().write(dir.path());
  const Inspection inspection = inspect(Checkpoint::open(dir.path()));
  // 96x64, 64x96, 64x64, 32x64 quantized, and lm_head.
  ASSERT_EQ(inspection.classes.size(), 5u);
  size_t count = 0;
  for (const LayerClass& entry : inspection.classes) count += entry.count;
  EXPECT_EQ(count, 15u);
  EXPECT_EQ(inspection.classes.back().verdict, "16-bit");
}

TEST(Inspection, JsonHasItsFields) {
  TempDir dir;
  small_quantized_llama().write(dir.path());
  const auto checkpoint = Checkpoint::open(dir.path());
  const auto json = inspection_json(checkpoint, inspect(checkpoint));
  for (const char* field :
       {"path", "packing", "bits", "group_size", "sym", "zero", "g_idx", "bits_per_weight",
        "quantized", "unquantized", "layers", "servable", "problems"}) {
    EXPECT_TRUE(json.contains(field)) << field;
  }
  ASSERT_EQ(json["layers"].size(), 15u);
  for (const char* field :
       {"name", "N", "K", "scheme", "bits", "group", "zero", "verdict", "reason"}) {
    EXPECT_TRUE(json["layers"][1].contains(field)) << field;
  }
}

TEST(Inspection, ListsProblemsAndRefusals) {
  TempDir dir;
  auto builder = small_quantized_llama();
  builder.at("model.layers.0.mlp.up_proj.qzeros").bytes[0] = 0;
  builder.remove("model.layers.1.mlp.up_proj.scales");
  builder.write(dir.path());
  const auto checkpoint = Checkpoint::open(dir.path(), {.allow_problems = true});
  const Inspection inspection = inspect(checkpoint);
  EXPECT_FALSE(inspection.servable);
  EXPECT_EQ(inspection.zero, "asymmetric");
  EXPECT_EQ(inspection.refused, 2u);
  const std::string text = inspection_text(checkpoint, inspection, false);
  EXPECT_THAT(text, HasSubstr("model.layers.1.mlp.up_proj.scales"));
  EXPECT_THAT(text, HasSubstr("not servable (2 problems, 2 refused layers)"));
}

TEST(Inspection, DescribesAFloatCheckpoint) {
  TempDir dir;
  small_llama().write(dir.path());
  const auto checkpoint = Checkpoint::open(dir.path());
  const Inspection inspection = inspect(checkpoint);
  EXPECT_EQ(inspection.packing, "none");
  EXPECT_EQ(inspection.quantized, 0u);
  EXPECT_EQ(inspection.unquantized, 15u);
  EXPECT_TRUE(inspection_json(checkpoint, inspection)["bits_per_weight"].is_null());
  EXPECT_THAT(inspection_text(checkpoint, inspection, false), HasSubstr("nothing is quantized"));
}

}  // namespace
}  // namespace radiance
