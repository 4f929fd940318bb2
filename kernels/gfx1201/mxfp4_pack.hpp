// Packing of MXFP4 weights for gfx1201: the layout of mxfp4_geometry.hpp.
#pragma once

#include <cstddef>
#include <cstdint>

#include "kernels/backend.hpp"

namespace radiance::gfx1201 {

// Where the parts lie, from the start of the packed weight (its header).
struct Mxfp4Layout {
  size_t codes = 0, blocks = 0, rows = 0, bytes = 0;
};

Mxfp4Layout mxfp4_layout(const WeightShape& shape);

struct Mxfp4Packing {
  bool folded = true;
  // Features whose blocks reach further than the fold does; none if folded. Blocks of zeros reach
  // nowhere, whatever their s.
  int64_t rows_outside = 0;
};

// codes: two a byte, [n][k / 2], the even k in the low half; scales: s bytes, [n][k / 32].
// keeps_subnormals: whether the matrix unit multiplies e4m3 subnormals; if not, less is folded.
// packed: layout.bytes, all of which after the header is written. Throws Error (unsupported) for a
// row with values both above 2^100 and below 2^-100, of which fp32 could not hold the sums.
Mxfp4Packing pack_mxfp4(const WeightShape& shape, const void* codes, const void* scales,
                        bool keeps_subnormals, uint8_t* packed);

}  // namespace radiance::gfx1201
