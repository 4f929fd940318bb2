#include "checkpoint/name_pattern.hpp"

#include <regex>

#include "checkpoint/failure.hpp"

namespace radiance {

namespace {

constexpr size_t kMaxExpression = 512;
// Longer names match nothing: the matcher's work grows with the name.
constexpr size_t kMaxName = 1024;

std::regex::flag_type flags() {
  auto flags = std::regex::ECMAScript | std::regex::nosubs;
#ifdef __GLIBCXX__
  // Breadth first: the default backtracks, exponentially and recursing once a character.
  flags |= std::regex_constants::__polynomial;
#endif
  return flags;
}

}  // namespace

struct NamePattern::Compiled {
  std::regex regex;
};

bool has_regex_character(std::string_view key) {
  return key.find_first_of("*+?^$()[]{}|\\") != std::string_view::npos;
}

NamePattern::NamePattern(std::string_view expression, const std::string& where) {
  if (expression.size() > kMaxExpression) {
    fail(RADIANCE_UNSUPPORTED, "{}: the pattern {} has {} characters, supported are {}", where,
         quote_name(expression), expression.size(), kMaxExpression);
  }
  // Nested counts multiply into automata of any size.
  if (expression.find('{') != std::string_view::npos) {
    fail(RADIANCE_UNSUPPORTED, "{}: the pattern {} uses a counted repetition, which is unsupported",
         where, quote_name(expression));
  }
  try {
    compiled_ = std::make_unique<Compiled>(
        Compiled{std::regex(expression.begin(), expression.end(), flags())});
  } catch (const std::regex_error& e) {
    bad_input("{}: the pattern {} is no regular expression: {}", where, quote_name(expression),
              e.what());
  }
}

NamePattern::~NamePattern() = default;
NamePattern::NamePattern(NamePattern&&) noexcept = default;
NamePattern& NamePattern::operator=(NamePattern&&) noexcept = default;

bool NamePattern::found_in(std::string_view name) const {
  return name.size() <= kMaxName && std::regex_search(name.begin(), name.end(), compiled_->regex);
}

bool NamePattern::matches_start(std::string_view name) const {
  return name.size() <= kMaxName && std::regex_search(name.begin(), name.end(), compiled_->regex,
                                                      std::regex_constants::match_continuous);
}

}  // namespace radiance
