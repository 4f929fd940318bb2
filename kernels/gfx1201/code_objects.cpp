#include "kernels/gfx1201/code_objects.hpp"

#include <cstring>
#include <string>

#include "radiance/error.hpp"

// RADIANCE_CODE_OBJECTS is the folder that the build compiled them to.

asm(".section .rodata\n.balign 4096\n"
    "radiance_gfx1201_autoround_decode:\n"
    ".incbin \"" RADIANCE_CODE_OBJECTS
    "/autoround_decode.hsaco\"\n"
    "radiance_gfx1201_autoround_decode_end:\n.previous\n");

namespace radiance::gfx1201 {
namespace {

extern "C" {
extern const uint8_t autoround_decode[] asm("radiance_gfx1201_autoround_decode");
extern const uint8_t autoround_decode_end[] asm("radiance_gfx1201_autoround_decode_end");
}

}  // namespace

std::span<const CodeObject> code_objects() {
  static const CodeObject all[] = {
      {"autoround_decode", {autoround_decode, autoround_decode_end}},
  };
  return all;
}

std::span<const uint8_t> code_object(const char* name) {
  for (const CodeObject& object : code_objects()) {
    if (std::strcmp(object.name, name) == 0) return object.bytes;
  }
  throw Error(RADIANCE_INTERNAL, std::string("no code object is called ") + name);
}

}  // namespace radiance::gfx1201
