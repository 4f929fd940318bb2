// The command as a user runs it: output, files and exit status.
#include <gmock/gmock.h>

#include "command_runner.hpp"
#include "tests/checkpoint/support.hpp"

namespace radiance {
namespace {

using test::run_command;
using test::small_llama;
using test::TempDir;
using testing::HasSubstr;

TEST(QuantizeCommand, MakesWhatInspectAccepts) {
  TempDir dir;
  small_llama().write(dir / "source");
  for (const char* format : {"autoround", "mxfp4"}) {
    const auto destination = dir / format;
    auto result = run_command({"quantize", dir / "source", destination, "--format", format,
                               "--group", "32", "--json", dir / "report.json"});
    ASSERT_EQ(result.status, 0) << result.errors;
    EXPECT_THAT(result.output, HasSubstr("14 layers, relative error"));
    const auto json = nlohmann::json::parse(test::read_file(dir / "report.json"));
    EXPECT_EQ(json["layers"].size(), 14u);
    EXPECT_EQ(json["format"], format);
    EXPECT_GT(json["relative_error"], 0.01);
    EXPECT_EQ(run_command({"inspect", destination}).status, 0);
    // Again: nothing is left to do.
    result =
        run_command({"quantize", dir / "source", destination, "--format", format, "--group", "32"});
    EXPECT_EQ(result.status, 0);
    EXPECT_THAT(result.output, HasSubstr("1 of 1 shards were finished before"));
  }
}

TEST(QuantizeCommand, RefusesBadUsage) {
  TempDir dir;
  small_llama().write(dir / "source");
  auto result = run_command({"quantize", dir / "source", dir / "out", "--format", "int8"});
  EXPECT_EQ(result.status, 2);
  EXPECT_FALSE(std::filesystem::exists(dir / "out"));
  result = run_command({"quantize", dir / "source", dir / "out", "--group", "100"});
  EXPECT_EQ(result.status, 2);
  EXPECT_THAT(result.errors, HasSubstr("group is 100, supported are 128, 64, 32 and -1"));
  EXPECT_FALSE(std::filesystem::exists(dir / "out"));
  result =
      run_command({"quantize", dir / "source", dir / "out", "--format", "mxfp4", "--group", "64"});
  EXPECT_EQ(result.status, 2);
  EXPECT_THAT(result.errors, HasSubstr("--group is 64, supported by mxfp4 is 32"));
  EXPECT_EQ(run_command({"quantize", dir / "absent", dir / "out"}).status, 2);
}

TEST(QuantizeCommand, SaysWhenTheDiskIsFull) {
  TempDir dir;
  small_llama().write(dir / "source");
  // The shell counts in blocks of 512 or 1024 bytes: either way too few.
  const auto result = run_command({"quantize", dir / "source", dir / "out"}, "ulimit -f 8; ");
  EXPECT_EQ(result.status, 2);
  EXPECT_THAT(result.errors, HasSubstr("model.safetensors cannot be written"));
  EXPECT_FALSE(std::filesystem::exists(dir / "out"));
}

}  // namespace
}  // namespace radiance
