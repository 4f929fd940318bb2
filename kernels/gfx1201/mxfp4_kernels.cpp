#include "kernels/gfx1201/mxfp4_kernels.hpp"

#include <string>

#include "kernels/gfx1201/code_objects.hpp"

namespace radiance::gfx1201 {

Mxfp4Kernels::Mxfp4Kernels(const HipDevice& device)
    : decode_(device, code_object("mxfp4_decode").data()),
      prefill_(device, code_object("mxfp4_prefill").data()),
      general_(device, code_object("mxfp4_general").data()),
      general_function_(general_.function("mxfp4_general")) {
  for (const bool folded : {false, true}) {
    const std::string blocks = folded ? "" : "_blocks";
    for (int tiles = 1; tiles <= kMaxRowTiles; ++tiles) {
      for (const bool split : {false, true}) {
        const std::string name =
            "mxfp4_decode_r" + std::to_string(tiles) + (split ? "_split" : "") + blocks;
        decode_functions_[folded][tiles - 1][split] = decode_.function(name.c_str());
      }
    }
    for (const int tiles : {2, 4}) {
      const std::string name = "mxfp4_prefill_n" + std::to_string(tiles) + blocks;
      prefill_functions_[folded][tiles / 4] = prefill_.function(name.c_str());
    }
  }
}

hip::Function Mxfp4Kernels::function(const Choice& choice, bool folded) const {
  switch (choice.kernel) {
    case Kernel::kDecode:
      return decode_functions_[folded][choice.row_tiles - 1][choice.split > 1];
    case Kernel::kPrefill:
      return prefill_functions_[folded][choice.column_tiles / 4];
    case Kernel::kGeneral:
      break;
  }
  return general_function_;
}

}  // namespace radiance::gfx1201
