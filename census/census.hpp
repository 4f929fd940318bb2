// What a kernel is made of: of every kernel of a gfx1201 code object.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "census/counts.hpp"
#include "census/main_loop.hpp"
#include "census/occupancy.hpp"

namespace radiance::census {

struct KernelCensus {
  std::string name;
  Counts counts;
  Resources resources;
  int sgprs = 0;
  int scratch_bytes = 0;  // a lane
  int spills = 0;         // registers, scalar and vector
  std::optional<MainLoop> main_loop;
};

struct CodeObjectCensus {
  std::vector<KernelCensus> kernels;
  std::string compiler;  // as it signed the code object; empty if it did not
};

// bytes: an ELF code object, or clang's bundle of them with one for gfx1201. Untrusted. Throws
// std::runtime_error with a sentence: no code object, no LLVM here, or an instruction that LLVM
// does not know.
CodeObjectCensus take_census(std::span<const uint8_t> bytes);

// {"kernels": [...], "device_compiler": ...}; a kernel's `config` is empty, for a code object does
// not say what launches it, and main_loop is null where there is no loop.
nlohmann::json to_json(const CodeObjectCensus& census);

}  // namespace radiance::census
