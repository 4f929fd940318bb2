// The census of gfx1201 code objects, by libradiance_census: loaded when first asked for, because
// it brings a disassembler that nothing else needs.
#pragma once

#include <cstdint>
#include <memory>
#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <vector>

namespace radiance::lab {

class CensusLibrary {
 public:
  // Throws Error (unsupported) that says where it was looked for.
  CensusLibrary();

  // {"kernels": [...]} of a code object, each with the fields of DESIGN section 7. Throws Error
  // (bad input) with a sentence.
  nlohmann::json take(std::span<const uint8_t> code_object) const;

  // Where it is looked for, in order: what RADIANCE_CENSUS names, or else beside the program, in
  // the lib folder beside the program's bin, and in the build tree.
  static std::vector<std::string> paths();

 private:
  struct Close {
    void operator()(void* library) const;
  };
  std::unique_ptr<void, Close> library_;
  int (*take_)(const uint8_t*, size_t, char**) = nullptr;
  void (*free_)(char*) = nullptr;
};

// The census of every gfx1201 kernel that is embedded in this build; "source" names its code
// object. Throws Error (unsupported) if there are none.
nlohmann::json take_embedded_census(const CensusLibrary& library);

}  // namespace radiance::lab
