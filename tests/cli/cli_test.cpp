// The command as a user meets it: exit statuses, one sentence for what is wrong, the closing line.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>

namespace radiance::cli {
namespace {

using testing::EndsWith;
using testing::HasSubstr;
using testing::StartsWith;

class Command : public testing::Test {
 protected:
  struct Result {
    int status;
    std::string out, err;
  };

  void SetUp() override {
    directory_ = std::filesystem::path(testing::TempDir()) /
                 ("radiance_cli_test_" + std::to_string(getpid()));
    std::filesystem::create_directories(directory_);
  }
  void TearDown() override { std::filesystem::remove_all(directory_); }

  std::string file(const std::string& name) const { return (directory_ / name).string(); }
  static std::string read(const std::string& path) {
    std::ifstream stream(path);
    return {std::istreambuf_iterator<char>(stream), {}};
  }

  Result run(const std::string& arguments) const {
    const std::string line = std::string(RADIANCE_COMMAND) + " " + arguments + " >'" + file("out") +
                             "' 2>'" + file("err") + "' </dev/null";
    const int status = std::system(line.c_str());  // NOLINT: a test of the command
    return {WIFEXITED(status) ? WEXITSTATUS(status) : -1, read(file("out")), read(file("err"))};
  }

  // Exit status 2 and one line on stderr that holds `what`.
  void expect_refusal(const std::string& arguments, const std::string& what) const {
    const Result result = run(arguments);
    EXPECT_EQ(result.status, 2) << arguments;
    EXPECT_THAT(result.err, StartsWith("radiance: ")) << arguments;
    EXPECT_THAT(result.err, HasSubstr(what)) << arguments;
    EXPECT_EQ(std::count(result.err.begin(), result.err.end(), '\n'), 1) << result.err;
  }

  std::filesystem::path directory_;
};

TEST_F(Command, BadUsageIsOneSentenceAndTwo) {
  expect_refusal("", "subcommand");
  expect_refusal("no-such-command", "no-such-command");
  expect_refusal("gate --no-such-option", "no-such-option");
  expect_refusal("gate --suite decoed", "no gate suite named decoed");
  expect_refusal("gate --suite table,,perm", "--suite");
  expect_refusal("gate --suite model", "--model");
  expect_refusal("gate --model /nonexistent/checkpoint", "/nonexistent/checkpoint");
  expect_refusal("gate --threads minus", "threads");
  expect_refusal("gate --fuzz-cases 0", "fuzz-cases");
  expect_refusal("gate --seed -3", "seed");
  expect_refusal("gate --device toaster", "toaster");
  expect_refusal("bench --device cuda:99", "");  // no driver, or no such device
  expect_refusal("bench --shapes 12by7", "12by7");
  expect_refusal("bench --m 1,zero", "zero");
  expect_refusal("bench --m 0", "--m");
  expect_refusal("bench --copies few", "few");
  expect_refusal("bench --scope everything", "everything");
  expect_refusal("bench --format int3", "int3");
  expect_refusal("bench --shapes 64x64 --copies 2 --config split9", "split9");
  expect_refusal("compare --shapes 64", "64");
  expect_refusal("probe", "what");
  expect_refusal("probe pram", "pram");
  expect_refusal("probe perm --device cpu", "gfx1201");
  expect_refusal("sweep --shapes 64x64 --copies 2 --m 1 --config split9", "split9");
  expect_refusal("ablate --device cpu:portable --shapes 64x64 --copies 2 --m 1", "no ablation");
  expect_refusal("census /nonexistent/file.hsaco", "/nonexistent/file.hsaco");
  expect_refusal("table --json /nonexistent/table.json", "/nonexistent/table.json");
}

TEST_F(Command, HelpIsGood) {
  for (const char* arguments :
       {"--help", "gate --help", "bench --help", "compare --help", "devices --help", "table --help",
        "inspect --help", "quantize --help", "census --help", "sweep --help", "ablate --help",
        "probe --help"}) {
    const Result result = run(arguments);
    EXPECT_EQ(result.status, 0) << arguments;
    EXPECT_EQ(result.err, "");
    EXPECT_FALSE(result.out.empty());
  }
}

TEST_F(Command, GateEndsWithItsCounts) {
  const Result result =
      run("gate --device cpu:portable --suite table,perm --seed 5 --json '" + file("g.json") + "'");
  EXPECT_EQ(result.status, 0) << result.err;
  EXPECT_EQ(result.err, "") << "progress is for terminals";
  EXPECT_THAT(result.out, EndsWith("\n4 passed, 0 failed, 1 skipped\n"));
  EXPECT_THAT(result.out, HasSubstr("seed 5"));
  EXPECT_THAT(result.out, HasSubstr("v_perm_b32")) << "what is skipped is named";
  const nlohmann::json report = nlohmann::json::parse(read(file("g.json")));
  for (const char* field : {"schema", "commit", "compiler", "driver", "device", "arch", "command",
                            "seed", "passed", "failed", "skipped", "cases"}) {
    EXPECT_TRUE(report.contains(field)) << field;
  }
  EXPECT_EQ(report.at("seed"), 5);
  EXPECT_EQ(report.at("arch"), "portable");
  EXPECT_EQ(report.at("command"),
            "radiance gate --device cpu:portable --seed 5 --suite table,perm");
}

TEST_F(Command, ARecordedConfigurationKeepsItsSlash) {
  const Result result =
      run("bench --device cpu:portable --shapes 64x64 --copies 2 --m 1 --scope gemm --samples 1 "
          "--config decode/portable --json '" +
          file("b.json") + "'");
  EXPECT_EQ(result.status, 0) << result.err;
  EXPECT_THAT(nlohmann::json::parse(read(file("b.json"))).at("command"),
              HasSubstr("--config decode/portable"));
}

TEST_F(Command, GateIsQuietUnlessAsked) {
  EXPECT_THAT(run("gate --suite table").out, Not(HasSubstr("int4 codes decode")));
  const Result result = run("gate --suite table -v");
  EXPECT_THAT(result.out, HasSubstr("int4 codes decode"));
  EXPECT_THAT(result.out, EndsWith("\n4 passed, 0 failed\n"));
}

TEST_F(Command, GateRunsAModelsLayers) {
  const Result result =
      run("gate --model '" RADIANCE_TEST_DATA "/smollm2-135m-instruct-layer0-g128' --json '" +
          file("m.json") + "'");
  EXPECT_EQ(result.status, 0) << result.out << result.err;
  EXPECT_THAT(result.out, HasSubstr("mlp.down_proj"));
  EXPECT_THAT(result.out, EndsWith("\n16 passed, 0 failed\n"));
  const nlohmann::json report = nlohmann::json::parse(read(file("m.json")));
  EXPECT_EQ(report.at("command"), "radiance gate --model smollm2-135m-instruct-layer0-g128");
  const double negative = report.at("cases")[0].at("negative_scales").get<double>();
  EXPECT_GT(negative, 0.3);
  EXPECT_LT(negative, 0.7);
}

TEST_F(Command, DevicesNamesTheMachine) {
  const Result result = run("devices --json '" + file("d.json") + "'");
  EXPECT_EQ(result.status, 0);
  EXPECT_THAT(result.out, HasSubstr("cpu:portable"));
  const nlohmann::json report = nlohmann::json::parse(read(file("d.json")));
  EXPECT_FALSE(report.at("devices").empty());
  EXPECT_THAT(run("devices --names").out, HasSubstr("cpu:portable\n"));
}

TEST_F(Command, TableEmitsTheConstants) {
  const Result result = run("table --json '" + file("t.json") + "'");
  EXPECT_EQ(result.status, 0);
  // -8 .. -5 in e4m3, lowest code in the lowest byte: S.1.7.M of each.
  EXPECT_THAT(result.out, HasSubstr("0xcaccced0"));
  EXPECT_EQ(nlohmann::json::parse(read(file("t.json"))).at("tables")[0].at("words")[0],
            0xcaccced0u);
}

TEST_F(Command, CensusNeedsItsLibrary) {
  setenv("RADIANCE_CENSUS", "/nonexistent/libradiance_census.so", 1);
  expect_refusal("census '" RADIANCE_TEST_DATA "/none'", "/nonexistent/libradiance_census.so");
  unsetenv("RADIANCE_CENSUS");
}

TEST_F(Command, BenchWritesItsRows) {
  const Result result =
      run("bench --device cpu:portable --threads 1 --shapes 64x128 --m 1,3 --copies 2 --samples 1 "
          "--format both --scope op --row-seconds 1 --json '" +
          file("b.json") + "'");
  EXPECT_EQ(result.status, 0) << result.err;
  const nlohmann::json report = nlohmann::json::parse(read(file("b.json")));
  EXPECT_EQ(report.at("rows").size(), 4u);
  EXPECT_EQ(report.at("rows")[0].at("scope"), "op");
}

TEST_F(Command, RivalsNeedTheirDevice) {
  expect_refusal(
      "bench --device cpu:portable --shapes 64x64 --copies 2 --m 1 --rivals",
      "the rivals are cuBLASLt's products, which need --device cuda:N, not cpu:portable");
}

TEST_F(Command, BenchSaysEveryRowIfAsked) {
  const Result result =
      run("bench --device cpu:portable --threads 1 --shapes 64x64 --m between --copies 2 "
          "--samples 1 --row-seconds 1 --scope gemm --verbose --json '" +
          file("v.json") + "'");
  EXPECT_EQ(result.status, 0) << result.err;
  EXPECT_THAT(result.out, HasSubstr("\n64x64 autoround gemm decode/"));
  const nlohmann::json rows = nlohmann::json::parse(read(file("v.json"))).at("rows");
  ASSERT_EQ(rows.size(), 15u);
  EXPECT_EQ(rows[4].at("M"), 6);
  EXPECT_EQ(rows[14].at("M"), 192);
  EXPECT_EQ(rows[0].at("replayed"), false);
}

TEST_F(Command, SweepWritesARowAConfiguration) {
  const Result result =
      run("sweep --device cpu:portable --threads 1 --shapes 64x128 --m 1 --copies 2 --samples 1 "
          "--row-seconds 1 --json '" +
          file("s.json") + "'");
  EXPECT_EQ(result.status, 0) << result.err;
  EXPECT_THAT(result.out, HasSubstr("ratio"));
  EXPECT_GT(nlohmann::json::parse(read(file("s.json"))).at("rows").size(), 1u);
}

TEST_F(Command, CompareWritesBothFormats) {
  const Result result =
      run("compare --device cpu:portable --threads 1 --shapes 64x128 --m 2 --copies 2 --samples 1 "
          "--row-seconds 1 --json '" +
          file("c.json") + "'");
  EXPECT_EQ(result.status, 0) << result.err;
  EXPECT_THAT(result.out, HasSubstr("ratio"));
  EXPECT_EQ(nlohmann::json::parse(read(file("c.json"))).at("rows").size(), 2u);
}

}  // namespace
}  // namespace radiance::cli
