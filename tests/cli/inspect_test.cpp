// The command as a user runs it: output, files and exit status.
#include <gmock/gmock.h>

#include "command_runner.hpp"
#include "tests/checkpoint/support.hpp"

namespace radiance {
namespace {

using test::run_command;
using test::small_quantized_llama;
using test::TempDir;
using testing::HasSubstr;

TEST(InspectCommand, PrintsTablesAndWritesJson) {
  TempDir dir;
  small_quantized_llama().write(dir / "model");
  const auto result =
      run_command({"inspect", dir / "model", "--json", dir / "report.json", "--tensors"});
  EXPECT_EQ(result.status, 0) << result.errors;
  EXPECT_EQ(result.errors, "");
  EXPECT_THAT(result.output, HasSubstr("auto_round:auto_gptq"));
  EXPECT_THAT(result.output, HasSubstr("model.layers.1.mlp.down_proj.qweight"));
  const auto json = nlohmann::json::parse(test::read_file(dir / "report.json"));
  for (const char* field : {"schema", "commit", "compiler", "driver", "device", "arch", "command",
                            "seed", "path", "packing", "layers", "servable", "problems"}) {
    EXPECT_TRUE(json.contains(field)) << field;
  }
  EXPECT_EQ(json["servable"], true);
}

TEST(InspectCommand, RefusesProblemsWithOneSentence) {
  TempDir dir;
  auto builder = small_quantized_llama();
  builder.remove("model.layers.0.mlp.up_proj.scales");
  builder.write(dir / "model");
  auto result = run_command({"inspect", dir / "model"});
  EXPECT_EQ(result.status, 2);
  EXPECT_THAT(result.output, HasSubstr("problems"));
  EXPECT_THAT(result.errors, HasSubstr("'model.layers.0.mlp.up_proj.scales'"));
  EXPECT_EQ(std::count(result.errors.begin(), result.errors.end(), '\n'), 1);
  result = run_command({"inspect", dir / "model", "--allow-problems"});
  EXPECT_EQ(result.status, 0);
}

TEST(InspectCommand, RefusesLayersNoKernelTakes) {
  TempDir dir;
  auto builder = small_quantized_llama();
  builder.config["quantization_config"]["sym"] = false;
  builder.at("model.layers.0.mlp.up_proj.qzeros").bytes[0] = 0;
  builder.write(dir / "model");
  const auto result = run_command({"inspect", dir / "model"});
  EXPECT_EQ(result.status, 2);
  EXPECT_THAT(result.errors, HasSubstr("1 of 14 quantized layers cannot be served"));
  EXPECT_THAT(result.errors, HasSubstr("1 of 24 words"));
}

TEST(InspectCommand, RefusesWhatIsNoCheckpoint) {
  TempDir dir;
  const auto result = run_command({"inspect", dir.path()});
  EXPECT_EQ(result.status, 2);
  EXPECT_EQ(result.output, "");
  EXPECT_THAT(result.errors, HasSubstr("no checkpoint"));
  EXPECT_EQ(run_command({"inspect"}).status, 2);
}

}  // namespace
}  // namespace radiance
