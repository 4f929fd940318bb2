#include "kernels/sm90/pack.hpp"

#include <algorithm>
#include <cstring>

#include "numerics/int4.hpp"

namespace radiance::sm90 {
namespace {

constexpr int64_t kShortK = 256;

size_t round_up_256(size_t bytes) { return (bytes + 255) / 256 * 256; }

int64_t tiles_of(int64_t n) { return (n + kTileN - 1) / kTileN; }
int64_t slabs_of(int64_t k) { return (k + kSlabK - 1) / kSlabK; }

// The stored nibble of a code: see Unpack in weights.cuh.
uint32_t encode(radiance_format format, uint32_t code) {
  if (format == RADIANCE_MXFP4) return code;
  const bool negative = code < kSymmetricZero;
  const uint32_t magnitude = negative ? 7 - code : code - kSymmetricZero;
  return magnitude << 1 | (negative ? 1u : 0u);
}

uint32_t source_code(const WeightShape& shape, const void* codes, int64_t n, int64_t k) {
  if (n >= shape.n || k >= shape.k) return shape.format == RADIANCE_MXFP4 ? 0 : kSymmetricZero;
  if (shape.format == RADIANCE_MXFP4) {
    return static_cast<const uint8_t*>(codes)[(n * shape.k + k) / 2] >> (k % 2 * 4) & 15u;
  }
  return int4_code(static_cast<const uint32_t*>(codes)[k / kCodesPerWord * shape.n + n],
                   static_cast<int>(k % kCodesPerWord));
}

void pack_codes(const WeightShape& shape, const void* codes, int64_t n0, int64_t k0,
                uint8_t* unit) {
  auto* words = reinterpret_cast<uint32_t*>(unit);
  for (int half = 0; half < 2; ++half) {
    for (int thread = 0; thread < 128; ++thread) {
      const int64_t row = n0 + thread / 32 * 16 + thread % 32 / 4;
      for (int i = 0; i < 4; ++i) {
        const int64_t k = k0 + (2 * half + i / 2) * 32 + i % 2 * 16 + thread % 4 * 4;
        uint32_t word = 0;
        for (int b = 0; b < 4; ++b) {
          const uint32_t low = encode(shape.format, source_code(shape, codes, row, k + b));
          const uint32_t high = encode(shape.format, source_code(shape, codes, row + 8, k + b));
          word |= (low | high << 4) << (8 * b);
        }
        words[(half * 128 + thread) * 4 + i] = word;
      }
    }
  }
}

void pack_scales(const WeightShape& shape, ScaleKind kind, const void* scales, int64_t n0,
                 int64_t k0, uint8_t* unit) {
  const int parts = scales_per_slab(kind);
  uint8_t* to = unit + kCodeBytes;
  for (int part = 0; part < parts; ++part) {
    const int64_t k = k0 + part * (kSlabK / parts);
    for (int i = 0; i < kTileN; ++i) {
      const int64_t n = n0 + i;
      const bool real = n < shape.n && k < shape.k;
      const int64_t g = k / shape.group;
      if (kind == ScaleKind::kE8m0) {
        to[part * kTileN + i] =
            real ? static_cast<const uint8_t*>(scales)[n * shape.groups() + g] : uint8_t{127};
      } else {
        const uint16_t scale =
            real ? static_cast<const uint16_t*>(scales)[g * shape.n + n] : uint16_t{0};
        std::memcpy(to + (part * kTileN + i) * 2, &scale, 2);
      }
    }
  }
}

}  // namespace

std::optional<ScaleKind> scale_kind(const WeightShape& shape) {
  if (shape.k % 16 != 0) return std::nullopt;  // the tensor map's strides
  if (shape.format == RADIANCE_MXFP4) return ScaleKind::kE8m0;
  // With few terms the tensor cores' 14 bits are the whole error: 5 of 6000 random cases, all of k
  // up to 128, exceeded the contract's bound by up to 38 %.
  if (shape.k <= kShortK) return std::nullopt;
  if (shape.group % kSlabK == 0 || shape.group == shape.k) return ScaleKind::kSlab;
  if (shape.group == 64) return ScaleKind::kHalf;
  if (shape.group == 32) return ScaleKind::kStep;
  return std::nullopt;
}

size_t packed_payload_bytes(const WeightShape& shape) {
  const std::optional<ScaleKind> kind = scale_kind(shape);
  if (kind) {
    return static_cast<size_t>(tiles_of(shape.n) * slabs_of(shape.k) * unit_bytes(*kind));
  }
  return packed_scales_offset(shape) + static_cast<size_t>(shape.groups() * shape.n * 2);
}

size_t packed_scales_offset(const WeightShape& shape) {
  return scale_kind(shape) ? 0 : round_up_256(static_cast<size_t>(shape.n * (shape.k / 8) * 4));
}

void pack_payload(const WeightShape& shape, const void* codes, const void* scales,
                  uint8_t* payload) {
  const std::optional<ScaleKind> kind = scale_kind(shape);
  if (!kind) {
    // MXFP4 has k a multiple of 32, so only int4 comes here.
    std::memcpy(payload, codes, static_cast<size_t>(shape.n * (shape.k / 8) * 4));
    std::memcpy(payload + packed_scales_offset(shape), scales,
                static_cast<size_t>(shape.groups() * shape.n * 2));
    return;
  }
  const int64_t slabs = slabs_of(shape.k);
  for (int64_t tile = 0; tile < tiles_of(shape.n); ++tile) {
    for (int64_t slab = 0; slab < slabs; ++slab) {
      uint8_t* unit = payload + (tile * slabs + slab) * unit_bytes(*kind);
      pack_codes(shape, codes, tile * kTileN, slab * kSlabK, unit);
      pack_scales(shape, *kind, scales, tile * kTileN, slab * kSlabK, unit);
    }
  }
}

}  // namespace radiance::sm90
