// The inner loop of the fp64 reference, compiled once an instruction set (lab/CMakeLists.txt).
#pragma once

#include <stdint.h>

namespace radiance::lab {

// Features of one tile: vectors run along them.
inline constexpr int kReferenceTile = 16;
// Rows of activations that share each weight vector while it is in a register.
inline constexpr int kReferenceRows = 4;

// sums[row][0..15] += sum over k < depth of x[row * x_stride + k] * values[k][0..15], for the
// kReferenceRows rows. With codes for values and e4m3 numbers for x all of it is exact, so neither
// the order nor a fused multiply-add changes a bit.
using ReferenceKernel = void (*)(const double* values, int depth, const double* x, int64_t x_stride,
                                 double* sums);

void reference_kernel_plain(const double*, int, const double*, int64_t, double*);
void reference_kernel_avx2(const double*, int, const double*, int64_t, double*);
void reference_kernel_avx512(const double*, int, const double*, int64_t, double*);

}  // namespace radiance::lab
