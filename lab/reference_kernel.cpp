// RADIANCE_REFERENCE_KERNEL names the function that this compilation defines. No standard header
// beyond stdint.h: an inline function compiled here for a wide instruction set could be the copy
// that the linker keeps for everyone.
#include "lab/reference_kernel.hpp"

namespace radiance::lab {

namespace {

constexpr int kLanes = 8;
constexpr int kVectors = kReferenceTile / kLanes;

using Vector [[gnu::vector_size(64)]] = double;

// Through memcpy: gcc 12 drops an aligned(8) from such a type as soon as it is deduced.
inline Vector load(const double* from) {
  Vector v;
  __builtin_memcpy(&v, from, sizeof(v));
  return v;
}

inline void store(double* to, Vector v) { __builtin_memcpy(to, &v, sizeof(v)); }

}  // namespace

void RADIANCE_REFERENCE_KERNEL(const double* values, int depth, const double* x, int64_t x_stride,
                               double* sums) {
  Vector sum[kReferenceRows][kVectors];
  for (int row = 0; row < kReferenceRows; ++row) {
    for (int v = 0; v < kVectors; ++v) {
      sum[row][v] = load(sums + row * kReferenceTile + v * kLanes);
    }
  }
  for (int k = 0; k < depth; ++k) {
    for (int row = 0; row < kReferenceRows; ++row) {
      const double a = x[row * x_stride + k];
      for (int v = 0; v < kVectors; ++v) {
        sum[row][v] += a * load(values + k * kReferenceTile + v * kLanes);
      }
    }
  }
  for (int row = 0; row < kReferenceRows; ++row) {
    for (int v = 0; v < kVectors; ++v) {
      store(sums + row * kReferenceTile + v * kLanes, sum[row][v]);
    }
  }
}

}  // namespace radiance::lab
