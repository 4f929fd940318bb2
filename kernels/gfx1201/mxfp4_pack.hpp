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

// Whether a packed weight is folded; never where k is no multiple of a slab.
bool is_folded(const PackedHeader& header);

// codes: two a byte, [n][k / 2], the even k in the low half; scales: s bytes, [n][k / 32].
// keeps_subnormals: whether the matrix unit multiplies e4m3 subnormals; if not, less is folded.
// packed: layout.bytes, all of which after the header is written; the header gets its offsets and
// whether the weight is folded. Returns how many features have blocks that reach further than the
// fold does: with one or more, nothing is folded. (Blocks of zeros reach nowhere, whatever their
// s.) Throws Error (unsupported) for features of which fp32 could not hold the sums: blocks more
// than 2^227 apart.
int64_t pack_mxfp4(const WeightShape& shape, const void* codes, const void* scales,
                   bool keeps_subnormals, PackedHeader& header, uint8_t* packed);

}  // namespace radiance::gfx1201
