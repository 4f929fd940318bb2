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

// bytes: an ELF code object, or clang's bundle of them with one for gfx1201. Untrusted. Throws
// std::runtime_error with a sentence: no code object, no LLVM here, or an instruction that LLVM
// does not know.
std::vector<KernelCensus> take_census(std::span<const uint8_t> bytes);

// {"kernels": [...]} by the names of DESIGN section 7; main_loop is null in a kernel without a
// loop.
nlohmann::json to_json(const std::vector<KernelCensus>& kernels);

}  // namespace radiance::census
