// The e4m3 byte of every code's value, derived at compile time and proven exact.
//
// Symmetric int4 with the constant zero 8 means the integers -8..7, each of which e4m3 represents
// exactly: the zero point folds into the unpack and never enters the product.
#pragma once

#include "numerics/e2m1.hpp"
#include "numerics/e4m3.hpp"
#include "numerics/int4.hpp"

namespace radiance {

struct CodeTable {
  u8 byte[16];

  // Bytes 4i..4i+3 as one little-endian word, as byte-permute instructions want them.
  RADIANCE_HOST_DEVICE constexpr u32 word(int i) const {
    return static_cast<u32>(byte[4 * i]) | static_cast<u32>(byte[4 * i + 1]) << 8 |
           static_cast<u32>(byte[4 * i + 2]) << 16 | static_cast<u32>(byte[4 * i + 3]) << 24;
  }
};

RADIANCE_HOST_DEVICE constexpr CodeTable make_int4_code_table() {
  CodeTable table{};
  for (int code = 0; code < 16; ++code) {
    table.byte[code] = f32_to_e4m3(static_cast<float>(int4_value(static_cast<u32>(code))));
  }
  return table;
}

RADIANCE_HOST_DEVICE constexpr CodeTable make_e2m1_code_table() {
  CodeTable table{};
  for (int code = 0; code < 16; ++code) {
    table.byte[code] = f32_to_e4m3(e2m1_to_f32(static_cast<u8>(code)));
  }
  return table;
}

inline constexpr CodeTable kInt4CodeTable = make_int4_code_table();
inline constexpr CodeTable kE2m1CodeTable = make_e2m1_code_table();

RADIANCE_HOST_DEVICE constexpr bool code_tables_are_exact() {
  for (int code = 0; code < 16; ++code) {
    if (e4m3_to_f32(kInt4CodeTable.byte[code]) != static_cast<float>(code - kSymmetricZero)) {
      return false;
    }
    if (e4m3_to_f32(kE2m1CodeTable.byte[code]) != e2m1_to_f32(static_cast<u8>(code))) return false;
  }
  return true;
}
static_assert(code_tables_are_exact(), "a code's value is not exact in e4m3");

// The bytes 0x00..0x0f are 0..15 times 2^-9 (subnormals run into the first normals): an unpack of
// offset codes can be a mask alone.
RADIANCE_HOST_DEVICE constexpr bool low_bytes_are_linear() {
  for (int b = 0; b < 16; ++b) {
    if (e4m3_to_f32(static_cast<u8>(b)) * 512.0f != static_cast<float>(b)) return false;
  }
  return true;
}
static_assert(low_bytes_are_linear());

}  // namespace radiance
