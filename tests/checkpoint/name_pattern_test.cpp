#include "checkpoint/name_pattern.hpp"

#include "support.hpp"

namespace radiance {
namespace {

using test::expect_error;

TEST(NamePattern, SearchesAsPythonDoes) {
  const NamePattern pattern(R"(layers\.\d+\.mlp)", "it");
  EXPECT_TRUE(pattern.found_in("model.layers.12.mlp.up_proj"));
  EXPECT_FALSE(pattern.found_in("model.layersx12.mlp.up_proj"));
  EXPECT_FALSE(pattern.matches_start("model.layers.12.mlp.up_proj"));
  EXPECT_TRUE(NamePattern(".*self_attn.*", "it").matches_start("model.layers.0.self_attn.q_proj"));
  EXPECT_TRUE(NamePattern("mlp.(gate|up)_proj$", "it").found_in("a.mlp.up_proj"));
}

TEST(NamePattern, KnowsWhichKeysAreExpressions) {
  EXPECT_FALSE(has_regex_character("model.layers.0.mlp.up_proj"));
  EXPECT_TRUE(has_regex_character(".*up_proj"));
  EXPECT_TRUE(has_regex_character("up_proj$"));
}

TEST(NamePattern, RefusesWhatIsNone) {
  expect_error(RADIANCE_BAD_INPUT, {"it", "'(a'", "no regular expression"},
               [] { NamePattern("(a", "it"); });
  expect_error(RADIANCE_UNSUPPORTED, {"'a{1000}'", "counted"},
               [] { NamePattern("a{1000}", "it"); });
  expect_error(RADIANCE_UNSUPPORTED, {"characters"},
               [] { NamePattern(std::string(10'000, '('), "it"); });
  // Back-references cannot be matched in polynomial time.
  expect_error(RADIANCE_BAD_INPUT, {"no regular expression"}, [] { NamePattern("(a)\\1", "it"); });
}

TEST(NamePattern, TakesNoExponentialTime) {
  const NamePattern pattern("(a*)*(a*)*(a*)*b", "it");
  EXPECT_FALSE(pattern.found_in(std::string(500, 'a')));
  EXPECT_FALSE(pattern.found_in(std::string(100'000, 'a')));
}

}  // namespace
}  // namespace radiance
