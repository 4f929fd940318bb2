// Elements of bf16, fp16 and fp32 arrays in host memory.
#pragma once

#include <cstdint>
#include <cstring>
#include <string>

#include "numerics/bf16.hpp"
#include "numerics/f16.hpp"
#include "radiance/radiance.h"

namespace radiance::lab {

constexpr int64_t element_bytes(radiance_dtype dtype) { return dtype == RADIANCE_F32 ? 4 : 2; }

constexpr const char* dtype_name(radiance_dtype dtype) {
  return dtype == RADIANCE_F32 ? "fp32" : dtype == RADIANCE_F16 ? "fp16" : "bf16";
}

constexpr const char* format_name(radiance_format format) {
  return format == RADIANCE_MXFP4 ? "mxfp4" : "autoround";
}

// The element's bit pattern, in the lower bits.
inline uint32_t load_bits(const void* array, radiance_dtype dtype, int64_t index) {
  const auto* bytes = static_cast<const uint8_t*>(array) + index * element_bytes(dtype);
  if (dtype == RADIANCE_F32) {
    uint32_t bits;
    std::memcpy(&bits, bytes, 4);
    return bits;
  }
  uint16_t bits;
  std::memcpy(&bits, bytes, 2);
  return bits;
}

inline float bits_to_float(uint32_t bits, radiance_dtype dtype) {
  if (dtype == RADIANCE_F32) return float_from_bits(bits);
  const auto half = static_cast<uint16_t>(bits);
  return dtype == RADIANCE_F16 ? f16_to_f32(half) : bf16_to_f32(half);
}

inline float load_float(const void* array, radiance_dtype dtype, int64_t index) {
  return bits_to_float(load_bits(array, dtype, index), dtype);
}

inline void store_float(void* array, radiance_dtype dtype, int64_t index, float value) {
  auto* bytes = static_cast<uint8_t*>(array) + index * element_bytes(dtype);
  if (dtype == RADIANCE_F32) {
    std::memcpy(bytes, &value, 4);
    return;
  }
  const uint16_t bits = dtype == RADIANCE_F16 ? f32_to_f16(value) : f32_to_bf16(value);
  std::memcpy(bytes, &bits, 2);
}

}  // namespace radiance::lab
