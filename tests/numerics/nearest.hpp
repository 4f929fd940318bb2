// An independent model of rounding: search all codes for the nearest value in double.
#pragma once

#include <cmath>
#include <cstdint>
#include <vector>

namespace radiance::testing {

// The code (index into `values`, ascending finite magnitudes) nearest to magnitude x; ties go to
// the even code, as the formats' code spaces alternate mantissa parity.
inline uint32_t nearest_code(const std::vector<double>& values, double x) {
  uint32_t best = 0;
  for (uint32_t c = 1; c < values.size(); ++c) {
    const double d = std::abs(values[c] - x), b = std::abs(values[best] - x);
    if (d < b || (d == b && (c & 1u) == 0)) best = c;
  }
  return best;
}

}  // namespace radiance::testing
