#include "emulator/hip/options.hpp"

#include <charconv>
#include <string>

#include "emulator/hip/errors.hpp"

namespace radiance::emulator::hip {
namespace {

uint64_t number(std::string_view name, std::string_view value, uint64_t most) {
  uint64_t result = 0;
  const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), result);
  if (error != std::errc() || end != value.data() + value.size() || result > most) {
    fail(kInvalidValue, "the emulator's option " + std::string(name) + " takes a number up to " +
                            std::to_string(most) + ", not \"" + std::string(value) + "\"");
  }
  return result;
}

// "autoround_decode_r1+76"
Omission omission(std::string_view value) {
  const size_t plus = value.rfind('+');
  if (plus == std::string_view::npos || plus == 0) {
    fail(kInvalidValue,
         "the emulator's option omit takes KERNEL+OFFSET, not \"" + std::string(value) + "\"");
  }
  return {std::string(value.substr(0, plus)), number("omit", value.substr(plus + 1), UINT32_MAX)};
}

}  // namespace

void set_option(Options* options, std::string_view name, std::string_view value) {
  constexpr unsigned kMostThreads = 4096;
  if (name == "threads") {
    options->threads = static_cast<unsigned>(number(name, value, kMostThreads));
  } else if (name == "strict") {
    options->strict = number(name, value, 1) != 0;
  } else if (name == "flush_fp8") {
    options->flush_fp8 = number(name, value, 1) != 0;
  } else if (name == "quiet") {
    options->quiet = number(name, value, 1) != 0;
  } else if (name == "seed") {
    options->seed.reset();
    if (value != "none") options->seed = number(name, value, UINT64_MAX);
  } else if (name == "budget") {
    options->budget = number(name, value, UINT64_MAX);
  } else if (name == "omit") {
    options->omit.reset();
    if (value != "none") options->omit = omission(value);
  } else {
    fail(kInvalidValue, "the emulator has no option \"" + std::string(name) +
                            "\"; there are threads, strict, seed, budget, omit, flush_fp8, quiet");
  }
}

Options parse_options(std::string_view text) {
  Options options;
  while (!text.empty()) {
    const std::string_view item = text.substr(0, text.find(','));
    text.remove_prefix(item.size() == text.size() ? item.size() : item.size() + 1);
    const size_t equals = item.find('=');
    if (equals == std::string_view::npos) {
      fail(kInvalidValue, "RADIANCE_EMULATOR holds \"" + std::string(item) +
                              "\", which is not of the form NAME=VALUE");
    }
    set_option(&options, item.substr(0, equals), item.substr(equals + 1));
  }
  return options;
}

}  // namespace radiance::emulator::hip
