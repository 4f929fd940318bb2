#include "lab/report.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "radiance/error.hpp"

namespace radiance::lab {
namespace {

TEST(Report, HeaderHoldsEveryField) {
  const auto device = open_device("cpu");
  const nlohmann::json header = report_header("radiance gate", 17, device.get());
  for (const char* field :
       {"schema", "commit", "compiler", "driver", "device", "arch", "command", "seed"}) {
    EXPECT_TRUE(header.contains(field)) << field;
  }
  EXPECT_EQ(header.at("command"), "radiance gate");
  EXPECT_EQ(header.at("seed"), 17);
  EXPECT_EQ(header.at("arch"), device->info().arch);
  EXPECT_EQ(header.at("driver"), device->info().driver);
  EXPECT_THAT(header.at("driver").get<std::string>(), testing::StartsWith("Linux "));
  EXPECT_FALSE(header.at("commit").get<std::string>().empty());
}

TEST(Report, HeaderWithoutDeviceKeepsTheFields) {
  const nlohmann::json header = report_header("radiance inspect x", 0, nullptr);
  EXPECT_TRUE(header.at("device").is_null());
  EXPECT_TRUE(header.at("arch").is_null());
  EXPECT_TRUE(header.at("driver").is_null());
}

TEST(Report, ClockSeedsFitADouble) { EXPECT_LT(clock_seed(), uint64_t{1} << 53); }

// A device is written to: renaming a file over it would remove it from the system.
TEST(Report, LeavesDevicesInPlace) {
  const auto link = std::filesystem::path(testing::TempDir()) / "radiance_report_device";
  std::filesystem::remove(link);
  std::filesystem::create_symlink("/dev/null", link);
  write_json(link, {{"a", 1}});
  EXPECT_TRUE(std::filesystem::is_symlink(link));
  std::filesystem::remove(link);
  std::filesystem::create_symlink("/dev/full", link);
  EXPECT_THROW(write_json(link, {{"a", 1}}), Error);
  EXPECT_TRUE(std::filesystem::is_symlink(link));
  std::filesystem::remove(link);
}

TEST(Report, WritesWholeFilesOnly) {
  const auto directory = std::filesystem::path(testing::TempDir()) / "radiance_report_test";
  std::filesystem::create_directories(directory);
  const std::string path = directory / "results.json";
  write_json(path, {{"a", 1}});
  write_json(path, {{"a", 2}});
  std::ifstream file(path);
  EXPECT_EQ(nlohmann::json::parse(file).at("a"), 2);
  int files = 0;
  for ([[maybe_unused]] const auto& entry : std::filesystem::directory_iterator(directory)) ++files;
  EXPECT_EQ(files, 1) << "a temporary file was left behind";
  std::filesystem::remove_all(directory);
}

TEST(Report, NamesThePathThatCannotBeWritten) {
  try {
    write_json("/nonexistent/results.json", {});
    FAIL();
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), testing::HasSubstr("/nonexistent/results.json"));
  }
}

}  // namespace
}  // namespace radiance::lab
