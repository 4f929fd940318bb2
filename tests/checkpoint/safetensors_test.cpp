#include "checkpoint/safetensors.hpp"

#include <cstring>

#include "support.hpp"

namespace radiance {
namespace {

using test::expect_error;
using test::safetensors_file;
using test::TempDir;
using test::write_file;

void parse(const std::string& bytes) {
  parse_safetensors_header({reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size()},
                           bytes.size(), "m.safetensors");
}

void expect_refused(const std::string& bytes, std::initializer_list<std::string_view> parts) {
  expect_error(RADIANCE_BAD_INPUT, parts, [&] { EXPECT_NO_FATAL_FAILURE(parse(bytes)); });
}

// One F32 tensor of two elements under any offsets and shape.
std::string one_tensor(const std::string& shape, const std::string& offsets,
                       const std::string& dtype = "F32", size_t data = 8) {
  return safetensors_file(R"({"t":{"dtype":")" + dtype + R"(","shape":)" + shape +
                              R"(,"data_offsets":)" + offsets + "}}",
                          std::string(data, 'x'));
}

TEST(Safetensors, ReadsTensorsInTheOrderOfTheirBytes) {
  TempDir dir;
  const auto path = dir / "a.safetensors";
  write_file(path, safetensors_file(R"({"__metadata__":{"format":"pt"},
      "b":{"dtype":"U8","shape":[3],"data_offsets":[4,7]},
      "a":{"dtype":"F16","shape":[2,1],"data_offsets":[0,4]},
      "empty":{"dtype":"F32","shape":[0,5],"data_offsets":[7,7]},
      "scalar":{"dtype":"BOOL","shape":[],"data_offsets":[7,8]}}  )",
                                    "aabbcccd"));
  const SafetensorsFile file(path);
  ASSERT_EQ(file.tensors().size(), 4u);
  EXPECT_EQ(file.metadata().at("format"), "pt");
  EXPECT_EQ(file.tensors()[0].name, "a");
  EXPECT_EQ(file.tensors()[1].name, "b");
  const auto bytes = file.bytes(file.tensors()[1]);
  EXPECT_EQ(std::string(bytes.begin(), bytes.end()), "ccc");
  file.file().drop(bytes);
  EXPECT_EQ(std::string(bytes.begin(), bytes.end()), "ccc");
}

TEST(Safetensors, RefusesTruncatedAndOversizedHeaders) {
  expect_refused("", {"m.safetensors", "truncated", "0 bytes"});
  expect_refused("1234567", {"truncated"});
  std::string file = one_tensor("[2]", "[0,8]");
  expect_refused(file.substr(0, 20), {"truncated", "claims"});
  uint64_t length = uint64_t{1} << 40;
  std::memcpy(file.data(), &length, sizeof(length));
  expect_refused(file, {"header claims 1099511627776 bytes", "at most 100000000"});
  length = ~uint64_t{0};
  std::memcpy(file.data(), &length, sizeof(length));
  expect_refused(file, {"at most 100000000"});
  length = 0;
  std::memcpy(file.data(), &length, sizeof(length));
  expect_refused(file, {"no JSON object"});
}

TEST(Safetensors, RefusesOffsetsThatDoNotFit) {
  expect_refused(one_tensor("[2]", "[0,16]"), {"'t'", "0..16", "has 8 bytes"});
  expect_refused(one_tensor("[2]", "[8,0]"), {"8..0"});
  expect_refused(one_tensor("[2]", "[0,18446744073709551615]"), {"has 8 bytes"});
  expect_refused(one_tensor("[2]", "[-8,0]"), {"an offset is -8"});
  expect_refused(one_tensor("[2]", "[0,8.5]"), {"an offset is 8.5"});
  expect_refused(one_tensor("[2]", "[0]"), {"data_offsets"});
  expect_refused(one_tensor("[2]", "[0,8]", "F32", 12), {"last 4 bytes belong to no tensor"});
}

TEST(Safetensors, RefusesShapesThatContradictTheBytes) {
  expect_refused(one_tensor("[3]", "[0,8]"), {"'t'", "has 8 bytes", "F32 [3] needs 12"});
  expect_refused(one_tensor("[2]", "[0,8]", "F16"), {"needs 4"});
  expect_refused(one_tensor("[-2]", "[0,8]"), {"dimension is -2"});
  expect_refused(one_tensor("2", "[0,8]"), {"shape"});
  // Products that wrap around to the right number of bytes.
  expect_refused(one_tensor("[4294967296,4294967296,2]", "[0,8]"), {"more elements"});
  expect_refused(one_tensor("[9223372036854775809,2]", "[0,8]"), {"more elements"});
  expect_refused(one_tensor("[4611686018427387904,2]", "[0,8]"), {"more elements"});
}

TEST(Safetensors, RefusesUnknownDtypesAndFields) {
  expect_refused(one_tensor("[2]", "[0,8]", "F4"), {"'t'", "unknown dtype 'F4'"});
  expect_refused(safetensors_file(R"({"t":{"dtype":"U8","shape":[1]}})", "x"), {"data_offsets"});
  expect_refused(safetensors_file(R"({"t":{"dtype":1,"shape":[1],"data_offsets":[0,1]}})", "x"),
                 {"dtype is 1"});
  expect_refused(
      safetensors_file(R"({"t":{"dtype":"U8","shape":[1],"data_offsets":[0,1],"z":0}})", "x"),
      {"unknown field 'z'"});
  expect_refused(safetensors_file(R"({"t":7})", ""), {"'t'", "JSON object"});
  expect_refused(safetensors_file(R"({"__metadata__":{"a":1}})", ""), {"__metadata__"});
}

TEST(Safetensors, RefusesOverlapsAndGaps) {
  const auto two = [](const char* first, const char* second, size_t data) {
    return safetensors_file(std::string(R"({"a":{"dtype":"U8","shape":[4],"data_offsets":)") +
                                first + R"(},"b":{"dtype":"U8","shape":[4],"data_offsets":)" +
                                second + "}}",
                            std::string(data, 'x'));
  };
  EXPECT_NO_THROW(parse(two("[0,4]", "[4,8]", 8)));
  EXPECT_NO_THROW(parse(two("[4,8]", "[0,4]", 8)));
  expect_refused(two("[0,4]", "[3,7]", 7), {"'a'", "'b'", "overlap"});
  expect_refused(two("[0,4]", "[0,4]", 4), {"overlap"});
  expect_refused(two("[0,4]", "[5,9]", 9), {"1 bytes before tensor 'b'"});
  expect_refused(two("[1,5]", "[5,9]", 9), {"1 bytes before tensor 'a'"});
}

TEST(Safetensors, RefusesDuplicateNames) {
  expect_refused(safetensors_file(R"({"t":{"dtype":"U8","shape":[1],"data_offsets":[0,1]},
                                      "t":{"dtype":"U8","shape":[1],"data_offsets":[1,2]}})",
                                  "xx"),
                 {"'t'", "twice"});
}

TEST(Safetensors, NamesFilesThatAreNone) {
  TempDir dir;
  expect_error(RADIANCE_BAD_INPUT, {"nothing.safetensors", "cannot be opened"},
               [&] { SafetensorsFile file(dir / "nothing.safetensors"); });
  expect_error(RADIANCE_BAD_INPUT, {"not a regular file"},
               [&] { SafetensorsFile file(dir.path()); });
  expect_refused(safetensors_file("[]", ""), {"no JSON object"});
}

TEST(Safetensors, ShowsHostileNamesHarmlessly) {
  expect_refused(safetensors_file("{\"a\\n\\u001b[31m" + std::string(500, 'x') + "\":7}", ""),
                 {"'a\\x0a\\x1b[31m", "xxx...'"});
}

}  // namespace
}  // namespace radiance
