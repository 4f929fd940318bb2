// The roofline of one call.
#pragma once

#include <cstdint>

namespace radiance::lab {

struct Roofline {
  double memory_us = 0;   // packed weight bytes over the streaming rate
  double compute_us = 0;  // multiply-accumulates over the measured peak
  double us() const { return memory_us > compute_us ? memory_us : compute_us; }
  bool bound_by_memory() const { return memory_us > compute_us; }
};

// bytes: of the packed weight; stream_gbps: of the interleaved streaming probe, 10^9 bytes a
// second; peak_gmacs: of the dot instruction, 10^9 multiply-accumulates a second.
constexpr Roofline roofline(int64_t m, int64_t n, int64_t k, double bytes, double stream_gbps,
                            double peak_gmacs) {
  const double macs = static_cast<double>(m) * static_cast<double>(n) * static_cast<double>(k);
  return {bytes / stream_gbps * 1e-3, macs / peak_gmacs * 1e-3};
}

}  // namespace radiance::lab
