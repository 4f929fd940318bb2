// Round-to-nearest quantization of one weight matrix into the layouts that checkpoints store.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "checkpoint/dtype.hpp"
#include "checkpoint/round_to_nearest.hpp"

namespace radiance {

// A float matrix [n][k] as its file holds it.
struct FloatMatrix {
  Dtype dtype = Dtype::kBF16;  // one of is_weight_float
  std::span<const uint8_t> bytes;
  int64_t n = 0;
  int64_t k = 0;
};

// The three tensors of auto_round:auto_gptq.
struct QuantizedInt4 {
  std::vector<uint32_t> qweight;  // [k / 8][n]
  std::vector<uint32_t> qzeros;   // [ceil(k / group)][n / 8]
  std::vector<uint16_t> scales;   // fp16 [ceil(k / group)][n]
  WeightError error;
};

// The two tensors of mxfp4-pack-quantized.
struct QuantizedMxfp4 {
  std::vector<uint8_t> weight_packed;  // [n][k / 2], the lower nibble is the lower k
  std::vector<uint8_t> weight_scale;   // [n][k / 32]
  WeightError error;
};

// n a multiple of 8, k of 8, group a multiple of 8 or -1. Memory beyond the result: a few rows a
// thread. The result does not depend on the number of threads (>= 1). Throws Error
// (RADIANCE_BAD_INPUT) naming the row and column of the first element that is not finite, or the
// row with a scale past fp16.
QuantizedInt4 quantize_int4(const FloatMatrix& weight, int64_t group, int threads);
// k a multiple of 32.
QuantizedMxfp4 quantize_mxfp4(const FloatMatrix& weight, int threads);

}  // namespace radiance
