// What a device must compute: the host's activation quantizer, bit for bit, and the product in
// fp64.
#pragma once

#include <cstdint>
#include <vector>

#include "lab/inputs.hpp"

namespace radiance::lab {

// Activations quantized as the contract says.
struct QuantizedRows {
  int64_t m = 0, k = 0, group = 0;
  std::vector<uint8_t> xq;      // [m][k], e4m3
  std::vector<float> scales;    // [m]
  std::vector<float> row_sums;  // [m][ceil(k / group)]: the exact sum of xq's values, rounded once
};

QuantizedRows quantize_rows(const HostRows& rows, int64_t group);

// y and its error's yardstick before the bias, in fp64 ([m][n]):
//   value = s_m * sum_k W[n][k] * xq[m][k], magnitude = s_m * sum_k 8 * |scale * xq|.
// Sums over a group are exact (multiples of 2^-10 below 2^43); a row whose scale is NaN is NaN.
struct Reference {
  int64_t m = 0, n = 0;
  std::vector<double> value;
  std::vector<double> magnitude;
};

Reference reference_product(const HostWeight& weight, const QuantizedRows& rows);

}  // namespace radiance::lab
