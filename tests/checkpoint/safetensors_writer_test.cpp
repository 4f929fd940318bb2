#include "checkpoint/safetensors_writer.hpp"

#include <sys/resource.h>

#include <csignal>

#include "checkpoint/safetensors.hpp"
#include "support.hpp"

namespace radiance {
namespace {

using test::expect_error;
using test::TempDir;

std::span<const uint8_t> bytes(const char* text) {
  return {reinterpret_cast<const uint8_t*>(text), std::string_view(text).size()};
}

TEST(SafetensorsWriter, WritesWhatTheReaderReads) {
  TempDir dir;
  const auto path = dir / "a.safetensors";
  SafetensorsWriter writer(path,
                           {{"z", Dtype::kU8, {3}},
                            {"quote\"d", Dtype::kF16, {2, 1}},
                            {"a", Dtype::kI32, {1}},
                            {"empty", Dtype::kU8, {0}}},
                           {{"format", "pt"}});
  writer.append("z", bytes("z"));
  writer.append("a", bytes("aaaa"));
  writer.append("quote\"d", bytes("qqqq"));
  writer.append("z", bytes("yx"));
  EXPECT_FALSE(std::filesystem::exists(path));
  writer.finish();
  EXPECT_EQ(std::filesystem::file_size(path), writer.file_bytes());
  const SafetensorsFile file(path);
  EXPECT_EQ(file.metadata().at("format"), "pt");
  ASSERT_EQ(file.tensors().size(), 4u);
  EXPECT_EQ(file.tensors()[0].name, "a");  // the widest first: all are aligned
  EXPECT_EQ(file.tensors()[0].begin % 8, 0u);
  EXPECT_EQ(file.tensors()[1].name, "quote\"d");
  const auto z = file.bytes(file.tensors()[3]);
  EXPECT_EQ(std::string(z.begin(), z.end()), "zyx");
  EXPECT_FALSE(std::filesystem::exists(dir / "a.safetensors.partial"));
}

TEST(SafetensorsWriter, LeavesNothingUnfinished) {
  TempDir dir;
  {
    SafetensorsWriter writer(dir / "a.safetensors", {{"t", Dtype::kU8, {4}}}, {});
    expect_error(RADIANCE_INTERNAL, {"'u'"}, [&] { writer.append("u", bytes("x")); });
    expect_error(RADIANCE_INTERNAL, {"'t'"}, [&] { writer.append("t", bytes("12345")); });
    expect_error(RADIANCE_INTERNAL, {"'t'", "last 4 bytes"}, [&] { writer.finish(); });
  }
  EXPECT_TRUE(std::filesystem::is_empty(dir.path()));
}

TEST(OutputFile, ReportsAFullDevice) {
  TempDir dir;
  std::filesystem::create_symlink("/dev/full", dir / "f.partial");
  expect_error(RADIANCE_BAD_INPUT, {"cannot be written", "No space left"}, [&] {
    OutputFile file(dir / "f");
    file.append(bytes("text"));
    file.commit();
  });
  EXPECT_FALSE(std::filesystem::exists(dir / "f"));
}

TEST(OutputFile, ReportsADirectoryThatIsNotThere) {
  TempDir dir;
  expect_error(RADIANCE_BAD_INPUT, {"absent/f", "No such file"},
               [&] { OutputFile file(dir / "absent" / "f"); });
}

TEST(OutputFile, ReportsTheFileSizeLimit) {
  TempDir dir;
  rlimit old{};
  getrlimit(RLIMIT_FSIZE, &old);
  const auto handler = std::signal(SIGXFSZ, SIG_IGN);
  const rlimit limit{4096, old.rlim_max};
  setrlimit(RLIMIT_FSIZE, &limit);
  expect_error(RADIANCE_BAD_INPUT, {"cannot be written", "too large"}, [&] {
    SafetensorsWriter writer(dir / "a.safetensors", {{"t", Dtype::kU8, {100'000}}}, {});
  });
  setrlimit(RLIMIT_FSIZE, &old);
  std::signal(SIGXFSZ, handler);
  EXPECT_TRUE(std::filesystem::is_empty(dir.path()));
}

}  // namespace
}  // namespace radiance
