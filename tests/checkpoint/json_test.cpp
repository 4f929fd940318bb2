#include "checkpoint/json.hpp"

#include "support.hpp"

namespace radiance {
namespace {

using test::expect_error;

TEST(Json, ParsesWhatIsWellFormed) {
  const auto json = parse_json(R"({"a": [1, {"b": null}], "c": {"b": 1}})", "it");
  EXPECT_EQ(json.at("c").at("b"), 1);
}

TEST(Json, RefusesDuplicateKeysAtEveryDepth) {
  expect_error(RADIANCE_BAD_INPUT, {"config.json", "'a'", "twice"},
               [] { parse_json(R"({"a": 1, "a": 2})", "config.json"); });
  expect_error(RADIANCE_BAD_INPUT, {"'b'", "twice"},
               [] { parse_json(R"({"x": [{"b": 1, "c": {}, "b": 1}]})", "it"); });
  // The same key in different objects is none.
  EXPECT_NO_THROW(parse_json(R"({"x": {"a": 1}, "y": {"a": 1}, "a": 0})", "it"));
}

TEST(Json, RefusesMalformedText) {
  for (const char* text :
       {"", "{", "{\"a\":1}}", "{\"a\":1} x", "nul", "{'a':1}", "[1e999]", "{\"a\": \"\xff\"}"}) {
    expect_error(RADIANCE_BAD_INPUT, {"it is not valid JSON"}, [&] { parse_json(text, "it"); });
  }
}

TEST(Json, RefusesDeepNesting) {
  const std::string deep = std::string(100'000, '[') + std::string(100'000, ']');
  expect_error(RADIANCE_BAD_INPUT, {"deeper than the 64"}, [&] { parse_json(deep, "it"); });
  EXPECT_NO_THROW(parse_json(std::string(64, '[') + std::string(64, ']'), "it"));
}

TEST(Json, FieldsHaveTheirType) {
  const auto json = parse_json(R"({"s": "x", "b": true, "i": -3, "big": 18446744073709551615,
                                   "f": 1.5, "n": null})",
                               "it");
  EXPECT_EQ(string_field(json, "s", "it"), "x");
  EXPECT_EQ(bool_field(json, "b", "it"), true);
  EXPECT_EQ(int_field(json, "i", "it"), -3);
  EXPECT_EQ(int_field(json, "n", "it"), std::nullopt);
  EXPECT_EQ(int_field(json, "absent", "it"), std::nullopt);
  expect_error(RADIANCE_BAD_INPUT, {"it", "big", "integer"}, [&] { int_field(json, "big", "it"); });
  expect_error(RADIANCE_BAD_INPUT, {"f", "1.5"}, [&] { int_field(json, "f", "it"); });
  expect_error(RADIANCE_BAD_INPUT, {"i", "string"}, [&] { string_field(json, "i", "it"); });
  expect_error(RADIANCE_BAD_INPUT, {"s", "'x'"}, [&] { bool_field(json, "s", "it"); });
}

}  // namespace
}  // namespace radiance
