// The integer form of quantized activations: 512 * xq is an integer of 18 bits and a sign, cut into
// three signed base-64 digits so that byte multiply-adds give exact group sums.
//
//   512 * xq = d0 + 64 d1 + 4096 d2, d0 and d1 in -32..31, d2 in -56..56
//
// (Base 256 would do as well where sums are 32 bits wide; in 16 bits small digits leave room for
// more additions before widening.)
//
// A block of 8 k takes 24 bytes: eight d0, eight d1, eight d2, each in the order 0 4 1 5 2 6 3 7,
// in which masking a word of layout.hpp with 0x0f0f0f0f (then after a shift by 4) gives the codes.
// Behind the blocks stand the sums of 512 * xq, as int32, over the parts of groups: a part is a
// group or 512 k of a longer one, so that its sum with the codes fits an int32 exactly.
#pragma once

#include "kernels/cpu/gemm_kernel.hpp"
#include "numerics/e2m1.hpp"
#include "numerics/e4m3.hpp"

namespace radiance::cpu {

constexpr int kDigits = 3;
constexpr i32 kDigitBase = 64;
constexpr int kDigitBits = 6;
constexpr int kDigitBlockBytes = kDigits * 8;
constexpr int64_t kPartK = 512;

namespace {

inline int64_t parts_per_group(int64_t group) { return (group + kPartK - 1) / kPartK; }

// Where a row's sums begin.
inline int64_t part_sums_offset(int64_t k) {
  return ((k / 8 * kDigitBlockBytes + kRowPadding * kDigits) + 63) / 64 * 64;
}

inline int64_t digit_row_bytes(int64_t k, int64_t group) {
  return part_sums_offset(k) + (k + group - 1) / group * parts_per_group(group) * 4;
}

// The blocks of a part of a group.
inline BlockRange part_blocks(const GemmTask& task, int64_t g, int64_t part) {
  const BlockRange group = group_blocks(task, g);
  const int64_t begin = group.begin + part * (kPartK / 8);
  const int64_t end = begin + kPartK / 8;
  return {begin < group.end ? begin : group.end, end < group.end ? end : group.end};
}

inline const i32* part_sums(const GemmTask& task, int64_t m) {
  return reinterpret_cast<const i32*>(task.rows + m * task.row_bytes + part_sums_offset(task.k));
}

// 512 * xq, an integer of at most 18 bits and a sign; NaN counts as 0 (its row's scale is NaN).
constexpr i32 e4m3_units(u8 byte) {
  return (byte & 0x7fu) == kE4m3Nan ? 0 : static_cast<i32>(e4m3_to_f32(byte) * 512.0f);
}

// The three digits of an e4m3 byte, and the integer they make.
struct ByteDigits {
  i32 units;
  u8 digit[kDigits];
};

struct DigitTable {
  ByteDigits of[256];
};

constexpr DigitTable make_digit_table() {
  DigitTable table{};
  for (int byte = 0; byte < 256; ++byte) {
    ByteDigits& entry = table.of[byte];
    i32 rest = entry.units = e4m3_units(static_cast<u8>(byte));
    for (int d = 0; d + 1 < kDigits; ++d) {
      const i32 digit = ((rest + kDigitBase / 2) & (kDigitBase - 1)) - kDigitBase / 2;
      entry.digit[d] = static_cast<u8>(digit);
      rest = (rest - digit) / kDigitBase;
    }
    entry.digit[kDigits - 1] = static_cast<u8>(rest);
  }
  return table;
}

inline void expand_digits(const u8* xq, int64_t k, int64_t group, u8* row) {
  static constexpr DigitTable table = make_digit_table();
  constexpr int order[8] = {0, 4, 1, 5, 2, 6, 3, 7};
  auto* sums = reinterpret_cast<i32*>(row + part_sums_offset(k));
  u8* block = row;
  for (int64_t begin = 0; begin < k; begin += group) {
    const int64_t group_end = begin + group < k ? begin + group : k;
    for (int64_t part = 0; part < parts_per_group(group); ++part) {
      const int64_t from = begin + part * kPartK;
      const int64_t end = from + kPartK < group_end ? from + kPartK : group_end;
      i32 sum = 0;
      for (int64_t k0 = from; k0 < end; k0 += 8, block += kDigitBlockBytes) {
        for (int i = 0; i < 8; ++i) {
          const ByteDigits& entry = table.of[xq[k0 + order[i]]];
          sum += entry.units;
          for (int d = 0; d < kDigits; ++d) block[8 * d + i] = entry.digit[d];
        }
      }
      *sums++ = sum;
    }
  }
}

// Codes as unsigned bytes: int4 as they stand, 8 more than the value; e2m1 in halves, 12 more.
template <Format format>
struct OffsetCodes;

template <>
struct OffsetCodes<Format::kInt4> {
  static constexpr i32 offset = 8;
  static constexpr float unit = 1.0f;
};

template <>
struct OffsetCodes<Format::kMxfp4> {
  static constexpr i32 offset = 12;
  static constexpr float unit = 0.5f;
};

struct alignas(16) ByteTable {
  u8 byte[16];
};

// For a byte shuffle: the offset code of every e2m1 nibble.
constexpr ByteTable make_e2m1_bytes() {
  ByteTable table{};
  for (u32 c = 0; c < 16; ++c) {
    table.byte[c] = static_cast<u8>(e2m1_to_f32(static_cast<u8>(c)) * 2.0f + 12.0f);
  }
  return table;
}

}  // namespace
}  // namespace radiance::cpu
