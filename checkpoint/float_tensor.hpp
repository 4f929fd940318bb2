// Elements of float tensors, converted.
#pragma once

#include <cstdint>
#include <span>

#include "checkpoint/dtype.hpp"

namespace radiance {

// out[i] = element i of `bytes`, which need not be aligned and holds out.size() elements of `dtype`
// (one of is_weight_float).
void convert_to_float(Dtype dtype, std::span<const uint8_t> bytes, std::span<float> out);

}  // namespace radiance
