// The gate's verdict on one output: pure host code, so that its own tests can plant errors.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "radiance/radiance.h"

namespace radiance::lab {

// How an output lies in the image of device memory that the gate poisons, launches on and reads
// back: guard bytes, m + kRowsPast rows of ldy elements, guard bytes.
struct OutputLayout {
  static constexpr int64_t kGuardBytes = 256;
  static constexpr int64_t kRowsPast = 4;

  radiance_dtype dtype = RADIANCE_BF16;
  int64_t m = 0, n = 0, ldy = 0;

  int64_t image_bytes() const;
  int64_t origin() const { return kGuardBytes; }  // of y[0][0], in bytes
};

// The image before a launch: every element a NaN (all ones), the guards a byte pattern that is
// none.
std::vector<uint8_t> poisoned_image(const OutputLayout& layout);

// What the output's errors are measured with.
struct Bound {
  double u = 0;  // of the rounding to the output type: 2^-8, 2^-11, 2^-24
  double a = 0;  // half the output type's smallest subnormal
  double t = 0;  // of the accumulation, times B
};

// t is 2^-12 for target "sm90" (its fp8 tensor cores keep few bits while they accumulate), else
// 2^-19.
Bound bound_for(radiance_dtype dtype, const std::string& target);

inline constexpr double kMaxRelativeError = 5e-3;

struct Expectation {
  const double* value = nullptr;      // [m][n], as Reference says
  const double* magnitude = nullptr;  // [m][n]
  const double* bias = nullptr;       // [n], or nullptr
  Bound bound;
  // Every element also equals the reference (for outputs that the type represents).
  bool exact = false;
};

struct OutputVerdict {
  double rel = 0;       // Frobenius norm of the error over that of the reference
  double max_elem = 0;  // the largest error over its bound
  std::string failure;  // "" if it passed, else one sentence about the first thing found
  bool passed() const { return failure.empty(); }
};

// Judges the image that a launch left: guards, rows past m and columns between n and ldy untouched,
// every element written, NaN rows all NaN and no other element NaN, both errors within bounds.
//
// rel is 0 where the whole reference is 0 (then the bound by element decides alone), and an output
// past the type's range must be an infinity of its sign and counts in neither error.
OutputVerdict check_output(const OutputLayout& layout, const std::vector<uint8_t>& image,
                           const Expectation& expectation);

// Of a kernel whose values are not meant to be right: "" if it wrote every element and nothing
// else.
std::string check_written(const OutputLayout& layout, const std::vector<uint8_t>& image);

// "" if both images agree in every bit, else where they first differ.
std::string compare_images(const OutputLayout& layout, const std::vector<uint8_t>& first,
                           const std::vector<uint8_t>& second);

}  // namespace radiance::lab
