// Drawn weights, activations and biases. Everything varies in n, m and k, for a uniform value
// cannot see a permutation.
#pragma once

#include <cstdint>
#include <vector>

#include "kernels/backend.hpp"
#include "lab/random.hpp"

namespace radiance::lab {

// A weight as checkpoints hold it, in host memory, laid out as radiance_weight_desc says.
struct HostWeight {
  WeightShape shape;
  int64_t given_group = 0;  // as the description gives it: it may be -1 or above k
  std::vector<uint8_t> codes;
  std::vector<uint8_t> scales;

  radiance_weight_desc desc() const;

  uint32_t code(int64_t n, int64_t k) const;
  void set_code(int64_t n, int64_t k, uint32_t code);
  // The scale of group g of feature n, exact.
  double scale(int64_t g, int64_t n) const;
  // fp16 bits, or the E8M0 byte.
  void set_scale(int64_t g, int64_t n, uint16_t bits);
  // code's value times its scale, exact.
  double value(int64_t n, int64_t k) const;

  // The share of groups whose scale is below zero.
  double negative_scale_share() const;
};

// What a code stands for: code - 8, or its e2m1 value.
float code_value(radiance_format format, uint32_t code);

// A zeroed weight (codes 0, scale bits 0) of this shape; group -1 is resolved to k.
HostWeight empty_weight(radiance_format format, int64_t n, int64_t k, int64_t group);

// int4: codes uniform in 0..15 (0 and 15 present); scales of either sign with equal chance, mostly
// 2^-10..2^-5, one in 32 and all of one feature in 16 an fp16 subnormal (so that the error of a
// subnormal scale is not hidden behind larger ones).
HostWeight random_int4_weight(Random& random, int64_t n, int64_t k, int64_t group);

// MXFP4: codes uniform; each feature's exponents within 3 of a base that differs by feature.
HostWeight random_mxfp4_weight(Random& random, int64_t n, int64_t k);

HostWeight random_weight(Random& random, radiance_format format, int64_t n, int64_t k,
                         int64_t group);

// Rows of activations in host memory, [m][ld] of dtype; the padding past k is NaN.
struct HostRows {
  radiance_dtype dtype = RADIANCE_BF16;
  int64_t m = 0, k = 0, ld = 0;
  std::vector<uint8_t> data;

  float at(int64_t row, int64_t column) const;
  void set(int64_t row, int64_t column, float value);
};

// Rows of NaN of m x k with leading dimension ld (0 = k).
HostRows empty_rows(radiance_dtype dtype, int64_t m, int64_t k, int64_t ld = 0);

// Row kinds take turns: normal values; one with outliers; one mostly tiny (e4m3 subnormals after
// quantization); one below the quantizer's smallest scale; all with some exact zeros of either sign
// and some tiny values. Row amplitudes span 2^-6..2^6.
HostRows random_rows(Random& random, radiance_dtype dtype, int64_t m, int64_t k, int64_t ld = 0);

// What a transformer's layer sees, to measure with: normal values, one feature in 128 ten times as
// large in every row. Kernels may be faster on them than on random_rows, which reach for every
// corner of the quantizer.
HostRows plain_rows(Random& random, radiance_dtype dtype, int64_t m, int64_t k);

// Values of one sign a row (negative in odd rows) that mix near-maximum with tiny ones.
HostRows cancel_rows(Random& random, radiance_dtype dtype, int64_t m, int64_t k);

// Row i is 448 at k = first + i and 0 elsewhere: its scale is exactly 1, so that an fp32 output is
// exactly 448 times one weight of each feature.
HostRows one_hot_rows(radiance_dtype dtype, int64_t m, int64_t k, int64_t first);

// n values of dtype.
std::vector<uint8_t> random_bias(Random& random, radiance_dtype dtype, int64_t n);

}  // namespace radiance::lab
