// The activation quantizer, written once as loops that every instruction set's compiler vectorizes.
// Included by one file an instruction set, which makes its own copy in an unnamed namespace.
#pragma once

#include "kernels/cpu/gemm_kernel.hpp"
#include "kernels/cpu/row_integers.hpp"
#include "numerics/bf16.hpp"
#include "numerics/e4m3.hpp"

namespace radiance::cpu {
namespace {

struct LoadBf16 {
  using Element = u16;
  static inline float load(u16 b) { return bf16_to_f32(b); }
};

// Without a branch, and without a subnormal float on the way (a host program may flush those).
struct LoadF16 {
  using Element = u16;
  static inline float load(u16 h) {
    const u32 magnitude = static_cast<u32>(h & 0x7fffu) << 13;
    const float normal = float_from_bits(magnitude + (112u << 23));
    const float subnormal = float_from_bits(magnitude | (113u << 23)) - 0x1p-14f;
    u32 bits = float_bits(magnitude < (1u << 23) ? subnormal : normal);
    bits = magnitude >= (31u << 23) ? magnitude | 0x7f800000u : bits;
    return float_from_bits(bits | static_cast<u32>(h & 0x8000u) << 16);
  }
};

struct LoadF32 {
  using Element = float;
  static inline float load(float x) { return x; }
};

// f32_to_e4m3 for finite x, without a branch. Equality over all floats is tested.
inline u32 encode_e4m3(float x) {
  const u32 bits = float_bits(x);
  const u32 magnitude = bits & 0x7fffffffu;
  const u32 clamped = magnitude > float_bits(kE4m3Max) ? float_bits(kE4m3Max) : magnitude;
  const u32 normal = (clamped - (120u << 23) + 0x7ffffu + ((clamped >> 20) & 1u)) >> 20;
  // 2^14 has its last bit at 2^-9: the addition rounds to a multiple of it, ties to even.
  const u32 subnormal = float_bits(float_from_bits(clamped) + 0x1p14f) - float_bits(0x1p14f);
  return (clamped < float_bits(0x1p-6f) ? subnormal : normal) | (bits >> 24 & 0x80u);
}

// e4m3_to_f32 without a branch.
inline float decode_e4m3(u8 byte) {
  const u32 magnitude = static_cast<u32>(byte & 0x7fu) << 20;
  const float normal = float_from_bits(magnitude + (120u << 23));
  const float subnormal = float_from_bits(magnitude | (121u << 23)) - 0x1p-6f;
  u32 bits = float_bits(magnitude < (1u << 23) ? subnormal : normal);
  bits = magnitude == (0x7fu << 20) ? 0x7fc00000u : bits;
  return float_from_bits(bits | static_cast<u32>(byte & 0x80u) << 24);
}

template <typename Load>
float quantize_as(const void* source, int64_t k, u8* xq) {
  const auto* x = static_cast<const typename Load::Element*>(source);
  u32 largest = 0;  // of the magnitudes' bits: ordered like the values, with NaN above infinity
  for (int64_t i = 0; i < k; ++i) {
    const u32 magnitude = float_bits(Load::load(x[i])) & 0x7fffffffu;
    largest = magnitude > largest ? magnitude : largest;
  }
  if (largest >= 0x7f800000u) {
    for (int64_t i = 0; i < k; ++i) xq[i] = kE4m3Nan;
    return float_from_bits(0x7fc00000u);
  }
  const float scale = activation_scale(float_from_bits(largest));
  for (int64_t i = 0; i < k; ++i) xq[i] = static_cast<u8>(encode_e4m3(Load::load(x[i]) / scale));
  return scale;
}

float quantize_row(const void* x, DType type, int64_t k, u8* xq) {
  switch (type) {
    case DType::kBf16:
      return quantize_as<LoadBf16>(x, k, xq);
    case DType::kF16:
      return quantize_as<LoadF16>(x, k, xq);
    case DType::kF32:
      break;
  }
  return quantize_as<LoadF32>(x, k, xq);
}

void group_sums(const u8* xq, int64_t k, int64_t group, float* sums) {
  for (int64_t g = 0; g * group < k; ++g) {
    const int64_t end = (g + 1) * group < k ? (g + 1) * group : k;
    int64_t sum = 0;
    bool nan = false;
    for (int64_t i = g * group; i < end; ++i) {
      sum += e4m3_units(xq[i]);
      nan |= (xq[i] & 0x7fu) == kE4m3Nan;
    }
    sums[g] = nan ? float_from_bits(0x7fc00000u) : static_cast<float>(sum) * 0x1p-9f;
  }
}

void expand_row(const u8* xq, int64_t k, int64_t group, RowForm form, u8* row) {
  switch (form) {
    case RowForm::kBf16: {
      auto* out = reinterpret_cast<u16*>(row);
      for (int64_t i = 0; i < k; ++i) {
        out[i] = static_cast<u16>(float_bits(decode_e4m3(xq[i])) >> 16);
      }
      for (int64_t i = k; i < k + kRowPadding; ++i) out[i] = 0;
      return;
    }
    case RowForm::kF32: {
      auto* out = reinterpret_cast<float*>(row);
      for (int64_t i = 0; i < k; ++i) out[i] = decode_e4m3(xq[i]);
      for (int64_t i = k; i < k + kRowPadding; ++i) out[i] = 0.0f;
      return;
    }
    case RowForm::kDigits:
    case RowForm::kWords:
      expand_integers(xq, k, group, form, row);
      return;
  }
}

}  // namespace
}  // namespace radiance::cpu
