#include "kernels/gfx1201/code_objects.hpp"

#include <cstring>
#include <string>

#include "radiance/error.hpp"

#include RADIANCE_EMBEDDED

namespace radiance::gfx1201 {

std::vector<CodeObject> code_objects() {
  std::vector<CodeObject> all;
  for (const Embedded& e : kEmbedded) all.push_back({e.name, {e.begin, e.end}});
  return all;
}

std::span<const uint8_t> code_object(const char* name) {
  for (const Embedded& e : kEmbedded) {
    if (std::strcmp(e.name, name) == 0) return {e.begin, e.end};
  }
  throw Error(RADIANCE_INTERNAL, std::string("no code object is called ") + name);
}

}  // namespace radiance::gfx1201
