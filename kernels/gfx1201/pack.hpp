// Packing an int4 weight for gfx1201: the matrix kernels' tiles (geometry.hpp), or the checkpoint's
// own order for the general kernel.
#pragma once

#include "kernels/backend.hpp"

namespace radiance::gfx1201 {

// folds: scale_folds() of policy.hpp.

// Bytes behind the header, and where the scales begin in them.
size_t packed_payload_bytes(const WeightShape& shape, int folds);
size_t packed_scales_offset(const WeightShape& shape, int folds);

// Writes the payload into host memory. codes: [k / 8][n] words, scales: fp16 [groups][n].
void pack_payload(const WeightShape& shape, int folds, const void* codes, const void* scales,
                  uint8_t* payload);

}  // namespace radiance::gfx1201
