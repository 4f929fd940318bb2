// Round-to-nearest quantization of one row of a weight.
#pragma once

#include <cstdint>
#include <span>

namespace radiance {

// Sums over the elements of a weight.
struct WeightError {
  double squared_error = 0;   // of W - quantized W
  double squared_weight = 0;  // of W
  float largest = 0;          // largest |W - quantized W|

  void add(const WeightError& other);
  // Relative Frobenius error; 0 for a weight of zeros.
  double relative() const;
};

// Why a row cannot be quantized.
enum class RowFault {
  kNone,
  kNotFinite,  // it holds NaN or an infinity
  kOverflow,   // a scale is larger than fp16 holds
};

// AutoRound's symmetric int4: per group of consecutive k (the last one may be short) the scale is
// sign * absmax / 8, at least 1e-5 in magnitude, rounded to fp16, its sign such that the extreme
// element maps to code 0, which means -8: the range -8..7 is then used in full. (When +absmax and
// -absmax both occur, +absmax does.) A group of zeros gets the smallest scale and codes of 8. Codes
// are round-half-even(w / scale) + 8, clamped to 0..15, with the scale as rounded.
//
// row: [k]; group: 1..k; codes: [k]; scales: fp16 [ceil(k / group)]; `error` is added to.
RowFault round_row_int4(std::span<const float> row, int64_t group, uint8_t* codes, uint16_t* scales,
                        WeightError& error);

// MXFP4: per 32 consecutive k, 2^(s - 127) with s = floor(log2(absmax)) - 2 + 127 (the shared
// exponent of the OCP Microscaling specification 1.0, section 6.3; 2 is the exponent of e2m1's
// largest value), clamped to 0..254; codes are e2m1(w / 2^(s - 127)), round half even, saturating
// at
// +-6. A block of zeros takes the largest s of its row, or 127: it has none of its own, and so does
// not widen the range of exponents in the row.
//
// row: [k], k a multiple of 32; codes: [k], one nibble a byte; scales: E8M0 [k / 32]. Never
// kOverflow.
RowFault round_row_mxfp4(std::span<const float> row, uint8_t* codes, uint8_t* scales,
                         WeightError& error);

}  // namespace radiance
