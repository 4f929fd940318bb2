// Packing a checkpoint's weight for sm90: units for the tensor core kernels (geometry.hpp), or the
// checkpoint's own order for the general kernel.
#pragma once

#include <optional>

#include "kernels/backend.hpp"
#include "kernels/sm90/geometry.hpp"

namespace radiance::sm90 {

// How the tensor core kernels would hold the scales, or nothing if only the general kernel takes
// this shape: groups must divide 128 down to 32, be its multiples, or be all of k; k a multiple
// of 16.
std::optional<ScaleKind> scale_kind(const WeightShape& shape);

// Bytes behind the header, and where the scales begin in them (general kernel; 0 for units).
size_t packed_payload_bytes(const WeightShape& shape);
size_t packed_scales_offset(const WeightShape& shape);

// Writes the payload into host memory.
void pack_payload(const WeightShape& shape, const void* codes, const void* scales,
                  uint8_t* payload);

}  // namespace radiance::sm90
