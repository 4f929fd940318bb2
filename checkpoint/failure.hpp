// How this layer reports what is wrong with a file: one sentence, thrown as radiance::Error.
#pragma once

#include <fmt/format.h>

#include <string>
#include <string_view>
#include <utility>

#include "radiance/error.hpp"

namespace radiance {

// A name out of an untrusted file, fit for a sentence: quoted, shortened, nothing unprintable.
inline std::string quote_name(std::string_view name) {
  constexpr size_t kLongest = 200;
  std::string out = "'";
  for (const char c : name.substr(0, kLongest)) {
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) {
      out += fmt::format("\\x{:02x}", static_cast<unsigned char>(c));
    } else {
      out += c;
    }
  }
  return out + (name.size() > kLongest ? "...'" : "'");
}

template <typename... Args>
[[noreturn]] void fail(radiance_status status, fmt::format_string<Args...> format, Args&&... args) {
  throw Error(status, fmt::format(format, std::forward<Args>(args)...));
}

// A file that contradicts itself or its neighbours.
template <typename... Args>
[[noreturn]] void bad_input(fmt::format_string<Args...> format, Args&&... args) {
  throw Error(RADIANCE_BAD_INPUT, fmt::format(format, std::forward<Args>(args)...));
}

}  // namespace radiance
