// What the probes of the hardware are told.
#pragma once

#include "kernels/gfx1201/mxfp4_geometry.hpp"

namespace radiance::gfx1201 {

constexpr int kProbeThreads = 256;

struct PermProbeParams {
  const u32* operands;  // [count][3]: S0, S1, selectors
  u32* results;
  i32 count;
};

struct TableProbeParams {
  float* left;   // [256]
  float* right;  // [256]
};

// The unpacks of unpack.hip.hpp, then that of mxfp4_unpack.hip.hpp for each exponent.
constexpr int kUnpackSigned = 0, kUnpackTable = 1, kUnpackE2m1 = 2;
constexpr int kUnpacks = kUnpackE2m1 + kFolds;

struct UnpackProbeParams {
  const u32* words;
  u32* bytes;  // [kUnpacks][count][2]
  i32 count;
};

}  // namespace radiance::gfx1201
