// The integer forms of quantized activations, so that multiply-adds of bytes or 16-bit words give
// exact group sums. 512 * xq is an integer of 18 bits and a sign; of a part's
//
//   512 * xq = (dense << shift) + (rest << rest_shift)
//
// dense has 15 bits and a sign, in kDigits as two signed base-256 digits, in kWords as it stands.
// Elements that it cannot express, tiny ones beside a large one or the large ones, whichever are
// fewer, are 0 there and stand in a list of rests. A part is a group or 512 k of a longer one, so
// that its sum with the codes fits an int32 exactly. Of groups of 128, 92 % need no rest where a
// row is normally distributed, 86 % where one element in 128 is ten times larger.
//
// A block of 8 k takes 16 bytes. kDigits: the eight low digits, the eight high ones, each in the
// order 0 4 1 5 2 6 3 7, in which masking a word of layout.hpp with 0x0f0f0f0f (then after a shift
// by 4) gives the codes. kWords: the eight words. Behind the blocks stand the parts, behind them
// the rests.
#pragma once

#include "kernels/cpu/gemm_kernel.hpp"
#include "numerics/e2m1.hpp"
#include "numerics/e4m3.hpp"

namespace radiance::cpu {

constexpr int kDigits = 2;
constexpr int kDigitBits = 8;
constexpr int kIntegerBlockBytes = 16;
constexpr int64_t kPartK = 512;
constexpr float kIntegerUnit = 0x1p-9f;
constexpr int kDigitOrder[8] = {0, 4, 1, 5, 2, 6, 3, 7};
// Integers that meet the codes in one lane of a multiply-add, of four bytes.
constexpr int integers_per_lane(RowForm form) { return form == RowForm::kWords ? 2 : 4; }

struct RowPart {
  i32 sum;                     // of the part's dense integers
  float unit;                  // 2^shift / 512: what one of them stands for
  i32 rest_sum;                // of its rests
  i32 rest_begin, rest_count;  // in the row's list
  i32 shift, rest_shift;
};

// A lane's integers, one of which at least is a rest: the row's lane `at`. kDigits: four signed
// bytes, half (at % 2) of block at / 2. kWords: two words, k = 2 at and 2 at + 1.
struct RowRest {
  i32 at;
  i32 values;
};

namespace {

inline int64_t parts_per_group(int64_t group) { return (group + kPartK - 1) / kPartK; }

inline int64_t parts_of(int64_t k, int64_t group) {
  return (k + group - 1) / group * parts_per_group(group);
}

// Where a row's parts begin.
inline int64_t row_parts_offset(int64_t k) { return (k / 8 * kIntegerBlockBytes + 63) / 64 * 64; }

// Where its rests begin.
inline int64_t row_rests_offset(int64_t k, int64_t group) {
  return row_parts_offset(k) + parts_of(k, group) * static_cast<int64_t>(sizeof(RowPart));
}

inline int64_t integer_row_bytes(int64_t k, int64_t group) {
  return row_rests_offset(k, group) + k / 2 * static_cast<int64_t>(sizeof(RowRest));
}

// The blocks of a part of a group.
inline BlockRange part_blocks(const GemmTask& task, int64_t g, int64_t part) {
  const BlockRange group = group_blocks(task, g);
  const int64_t begin = group.begin + part * (kPartK / 8);
  const int64_t end = begin + kPartK / 8;
  return {begin < group.end ? begin : group.end, end < group.end ? end : group.end};
}

inline const RowPart* row_parts(const GemmTask& task, int64_t m) {
  return reinterpret_cast<const RowPart*>(task.rows + m * task.row_bytes +
                                          row_parts_offset(task.k));
}

inline const RowRest* row_rests(const GemmTask& task, int64_t m) {
  return reinterpret_cast<const RowRest*>(task.rows + m * task.row_bytes +
                                          row_rests_offset(task.k, task.group));
}

// 512 * xq, an integer of at most 18 bits and a sign; NaN counts as 0 (its row's scale is NaN).
constexpr i32 e4m3_units(u8 byte) {
  return (byte & 0x7fu) == kE4m3Nan ? 0 : static_cast<i32>(e4m3_to_f32(byte) * 512.0f);
}

// How the integers of a part are expressed: those for which (magnitude & rest_bits) is not 0 are
// rests.
struct PartForm {
  int shift, rest_shift;
  u32 rest_bits;

  constexpr bool is_rest(i32 units) const {
    return (static_cast<u32>(units < 0 ? -units : units) & rest_bits) != 0;
  }
  constexpr i32 dense(i32 units) const { return is_rest(units) ? 0 : units >> shift; }
  constexpr i32 rest(i32 units) const { return is_rest(units) ? units >> rest_shift : 0; }
};

// A magnitude has four bits in a row. So one of 15 bits is at most 15 * 2^11 and both digits fit; a
// tiny rest, one of whose last three bits is set, has at most six bits; and a large one, of more
// than 15, ends in twelve zeros and has six others.
static_assert(15 << 11 <= 127 * 256 + 127);

// The form of a part, `all` being the bits that any of its magnitudes has, if it needs no rest;
// else rest_bits are those of its tiny elements.
constexpr PartForm tiny_rests(u32 all) {
  int shift = 0;
  while (all >> shift >= 1U << 15) ++shift;
  return {shift, 0, all & ((1U << shift) - 1)};
}
constexpr PartForm kLargeRests = {0, 12, ~((1U << 15) - 1)};

inline PartForm part_form(u32 all, const i32* units, int64_t count) {
  const PartForm tiny = tiny_rests(all);
  if (tiny.rest_bits == 0) return tiny;
  int64_t more_tiny = 0;
  for (int64_t i = 0; i < count; ++i) {
    more_tiny += (tiny.is_rest(units[i]) ? 1 : 0) - (kLargeRests.is_rest(units[i]) ? 1 : 0);
  }
  return more_tiny > 0 ? kLargeRests : tiny;
}

// Describes a part, all but the dense sum, and lists its rests from rests[rest_begin] on. Its
// units, from element k0 of the row on, stand in the form's order.
inline RowPart make_part(const i32* units, int64_t count, int64_t k0, PartForm form,
                         RowForm row_form, i32 rest_begin, RowRest* rests) {
  RowPart part = {0,
                  static_cast<float>(1 << form.shift) * kIntegerUnit,
                  0,
                  rest_begin,
                  0,
                  form.shift,
                  form.rest_shift};
  if (form.rest_bits == 0) return part;
  const int per_lane = integers_per_lane(row_form);
  const int bits = 32 / per_lane;
  for (int64_t i = 0; i < count; i += per_lane) {
    u32 values = 0;
    for (int j = 0; j < per_lane; ++j) {
      const i32 rest = form.rest(units[i + j]);
      part.rest_sum += rest;
      values |= (static_cast<u32>(rest) & ((1U << bits) - 1)) << (bits * j);
    }
    if (values == 0) continue;
    rests[rest_begin + part.rest_count++] = {static_cast<i32>((k0 + i) / per_lane),
                                             static_cast<i32>(values)};
  }
  return part;
}

inline void expand_integers(const u8* xq, int64_t k, int64_t group, RowForm row_form, u8* row) {
  const bool words = row_form == RowForm::kWords;
  auto* part = reinterpret_cast<RowPart*>(row + row_parts_offset(k));
  auto* rests = reinterpret_cast<RowRest*>(row + row_rests_offset(k, group));
  i32 rest_count = 0;
  i32 units[kPartK];
  for (int64_t begin = 0; begin < k; begin += group) {
    const int64_t group_end = begin + group < k ? begin + group : k;
    for (int64_t p = 0; p < parts_per_group(group); ++p, ++part) {
      const int64_t from = begin + p * kPartK < group_end ? begin + p * kPartK : group_end;
      const int64_t count = (from + kPartK < group_end ? from + kPartK : group_end) - from;
      u32 all = 0;
      for (int64_t i = 0; i < count; ++i) {
        const int64_t at = words ? i : i / 8 * 8 + kDigitOrder[i % 8];
        units[i] = e4m3_units(xq[from + at]);
        all |= static_cast<u32>(units[i] < 0 ? -units[i] : units[i]);
      }
      const PartForm form = part_form(all, units, count);
      *part = make_part(units, count, from, form, row_form, rest_count, rests);
      rest_count += part->rest_count;
      for (int64_t i = 0; i < count; ++i) {
        const i32 dense = form.dense(units[i]);
        part->sum += dense;
        u8* block = row + (from + i) / 8 * kIntegerBlockBytes;
        if (words) {
          const auto word = static_cast<u16>(dense);
          __builtin_memcpy(block + 2 * (i % 8), &word, 2);
        } else {
          block[i % 8] = static_cast<u8>(dense);
          block[8 + i % 8] = static_cast<u8>((dense + 128) >> kDigitBits);
        }
      }
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
