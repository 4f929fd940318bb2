// The compiled gfx1201 kernels, embedded in the library.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace radiance::gfx1201 {

struct CodeObject {
  const char* name;  // of its source: "autoround_decode"
  std::span<const uint8_t> bytes;
};

std::vector<CodeObject> code_objects();

// The one with this name. Throws Error if this build has none.
std::span<const uint8_t> code_object(const char* name);

}  // namespace radiance::gfx1201
