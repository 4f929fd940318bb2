// Regular expressions over module names, as configurations carry them.
#pragma once

#include <memory>
#include <string>
#include <string_view>

namespace radiance {

// Whether auto-round would read this key as a regular expression. '.' alone is not enough: every
// module name has one.
bool has_regex_character(std::string_view key);

// A compiled expression (ECMAScript syntax, which agrees with Python's for what configurations
// use). It comes from an untrusted file: its length is bounded, counted repetitions ({m,n}) and
// back-references are refused, matching takes polynomial time.
class NamePattern {
 public:
  // Throws Error (RADIANCE_BAD_INPUT or RADIANCE_UNSUPPORTED) naming `where` and the expression.
  NamePattern(std::string_view expression, const std::string& where);
  ~NamePattern();
  NamePattern(NamePattern&&) noexcept;
  NamePattern& operator=(NamePattern&&) noexcept;

  bool found_in(std::string_view name) const;       // anywhere, as Python's re.search
  bool matches_start(std::string_view name) const;  // as Python's re.match

 private:
  struct Compiled;
  std::unique_ptr<Compiled> compiled_;
};

}  // namespace radiance
