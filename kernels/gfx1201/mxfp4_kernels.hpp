// The loaded MXFP4 kernels.
#pragma once

#include "kernels/gfx1201/policy.hpp"
#include "runtime/hip_module.hpp"

namespace radiance::gfx1201 {

class Mxfp4Kernels {
 public:
  explicit Mxfp4Kernels(const HipDevice& device);

  // The kernel of a choice for a weight that is folded or not (mxfp4_geometry.hpp).
  hip::Function function(const Choice& choice, bool folded) const;

 private:
  HipModule decode_, prefill_, general_;
  hip::Function decode_functions_[2][kMaxRowTiles][2];  // [folded][row tiles - 1][split]
  hip::Function prefill_functions_[2][2];               // [folded][column tiles / 4]
  hip::Function general_function_;
};

}  // namespace radiance::gfx1201
