// The options of the emulator: by radiance_emulator_set_option, or at the start by the environment.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "emulator/emulator.hpp"

namespace radiance::emulator::hip {

struct Options {
  unsigned threads = 0;
  bool strict = false;
  bool quiet = false;
  bool flush_fp8 = false;
  std::optional<uint64_t> seed;
  std::optional<uint64_t> budget;
  std::optional<Omission> omit;
};

// Throws Failure (invalid value) naming the option, or the value that it does not take.
void set_option(Options* options, std::string_view name, std::string_view value);

// "strict=1,seed=42". Throws like set_option.
Options parse_options(std::string_view text);

}  // namespace radiance::emulator::hip
