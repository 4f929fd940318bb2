// Packing a checkpoint's weight into the layout of layout.hpp.
#pragma once

#include "kernels/backend.hpp"

namespace radiance::cpu {

// Bytes of codes and of scales, each a multiple of 64.
size_t packed_code_bytes(const WeightShape& shape);
size_t packed_scale_bytes(const WeightShape& shape);

// Writes tiles tile_begin .. tile_end - 1 of both.
void pack_tiles(const WeightShape& shape, const void* codes, const void* scales, int64_t tile_begin,
                int64_t tile_end, uint8_t* packed_codes, uint8_t* packed_scales);

}  // namespace radiance::cpu
