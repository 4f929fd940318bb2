// int4 codes: eight in a 32-bit word, and the orders in which checkpoints put them there.
#pragma once

#include "numerics/host_device.hpp"

namespace radiance {

inline constexpr int kCodesPerWord = 8;
inline constexpr int kSymmetricZero = 8;  // code c means the integer c - 8

// GPTQ order: code i in bits 4i..4i+3 (lowest k in the lowest nibble).
RADIANCE_HOST_DEVICE constexpr u32 int4_code(u32 word, int i) { return (word >> (4 * i)) & 0xfu; }

RADIANCE_HOST_DEVICE constexpr u32 int4_insert(u32 word, int i, u32 code) {
  return (word & ~(0xfu << (4 * i))) | ((code & 0xfu) << (4 * i));
}

RADIANCE_HOST_DEVICE constexpr int int4_value(u32 code) {
  return static_cast<int>(code) - kSymmetricZero;
}

// AWQ packs eight consecutive n of one k into a word in the order 0 2 4 6 1 3 5 7: nibble i holds
// feature kAwqOrder[i].
inline constexpr int kAwqOrder[kCodesPerWord] = {0, 2, 4, 6, 1, 3, 5, 7};

// The nibble of an AWQ word that holds feature n % 8.
RADIANCE_HOST_DEVICE constexpr int awq_nibble(int feature) {
  return (feature & 1) * 4 + (feature >> 1);
}

static_assert([] {
  for (int i = 0; i < kCodesPerWord; ++i) {
    if (awq_nibble(kAwqOrder[i]) != i) return false;
  }
  return true;
}());

}  // namespace radiance
