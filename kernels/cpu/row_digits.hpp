// The integer form of quantized activations: 512 * xq is an integer of 18 bits and a sign, cut into
// three signed base-256 digits so that byte multiply-adds give exact group sums.
//
//   512 * xq = d0 + 256 d1 + 65536 d2, d0 and d1 in -128..127, d2 in -4..4
//
// A block of 8 k takes 24 bytes: eight d0, eight d1, eight d2, each in the order 0 4 1 5 2 6 3 7,
// in which masking a word of layout.hpp with 0x0f0f0f0f (then after a shift by 4) gives the codes.
#pragma once

#include "numerics/host_device.hpp"

namespace radiance::cpu {

constexpr int kDigits = 3;
constexpr int kDigitBlockBytes = kDigits * 8;

namespace {

// Writes the digits of the i-th of a block's eight k.
inline void write_digits(i32 units, int i, u8* block) {
  constexpr int position[8] = {0, 2, 4, 6, 1, 3, 5, 7};  // of k in the order 0 4 1 5 2 6 3 7
  for (int d = 0; d < kDigits; ++d) {
    const i32 digit = ((units + 128) & 255) - 128;
    block[8 * d + position[i]] = static_cast<u8>(digit);
    units = (units - digit) / 256;
  }
}

}  // namespace
}  // namespace radiance::cpu
