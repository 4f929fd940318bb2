#include "lab/inputs.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "lab/elements.hpp"
#include "numerics/e2m1.hpp"
#include "numerics/e8m0.hpp"
#include "numerics/int4.hpp"

namespace radiance::lab {

namespace {

size_t offset(int64_t index) { return static_cast<size_t>(index); }

uint16_t random_fp16_scale(Random& random, bool subnormal) {
  const uint16_t sign = random.chance(0.5) ? 0x8000u : 0u;
  if (subnormal) return static_cast<uint16_t>(sign | (1 + random.below(0x3ff)));
  const auto magnitude = static_cast<float>(std::exp2(random.uniform(-10.0, -5.0)));
  return static_cast<uint16_t>(sign | f32_to_f16(magnitude));
}

void randomize_bytes(Random& random, std::vector<uint8_t>& bytes) {
  size_t i = 0;
  for (; i + 8 <= bytes.size(); i += 8) {
    const uint64_t word = random.next();
    std::memcpy(&bytes[i], &word, 8);
  }
  for (; i < bytes.size(); ++i) bytes[i] = static_cast<uint8_t>(random.next() >> 56);
}

}  // namespace

float code_value(radiance_format format, uint32_t code) {
  return format == RADIANCE_MXFP4 ? e2m1_to_f32(static_cast<u8>(code))
                                  : static_cast<float>(int4_value(code));
}

radiance_weight_desc HostWeight::desc() const {
  radiance_weight_desc description{};
  description.struct_size = sizeof(description);
  description.format = shape.format;
  description.n = shape.n;
  description.k = shape.k;
  description.group = given_group;
  description.codes = codes.data();
  description.scales = scales.data();
  return description;
}

// Word [k / 8][n] little-endian: byte (k % 8) / 2 of it, the lower nibble the lower k.
static size_t code_byte(const WeightShape& shape, int64_t n, int64_t k) {
  return shape.format == RADIANCE_MXFP4 ? offset(n * (shape.k / 2) + k / 2)
                                        : offset(((k / 8) * shape.n + n) * 4 + (k % 8) / 2);
}

uint32_t HostWeight::code(int64_t n, int64_t k) const {
  return (codes[code_byte(shape, n, k)] >> (4 * (k & 1))) & 0xfu;
}

void HostWeight::set_code(int64_t n, int64_t k, uint32_t code) {
  uint8_t& byte = codes[code_byte(shape, n, k)];
  const int shift = static_cast<int>(4 * (k & 1));
  byte = static_cast<uint8_t>((byte & ~(0xfu << shift)) | ((code & 0xfu) << shift));
}

double HostWeight::scale(int64_t g, int64_t n) const {
  if (shape.format == RADIANCE_MXFP4) return e8m0_to_f32(scales[offset(n * shape.groups() + g)]);
  return load_float(scales.data(), RADIANCE_F16, g * shape.n + n);
}

void HostWeight::set_scale(int64_t g, int64_t n, uint16_t bits) {
  if (shape.format == RADIANCE_MXFP4) {
    scales[offset(n * shape.groups() + g)] = static_cast<uint8_t>(bits);
  } else {
    std::memcpy(&scales[offset((g * shape.n + n) * 2)], &bits, 2);
  }
}

double HostWeight::value(int64_t n, int64_t k) const {
  return static_cast<double>(code_value(shape.format, code(n, k))) * scale(k / shape.group, n);
}

double HostWeight::negative_scale_share() const {
  int64_t negative = 0;
  for (int64_t g = 0; g < shape.groups(); ++g) {
    for (int64_t n = 0; n < shape.n; ++n) negative += scale(g, n) < 0;
  }
  return static_cast<double>(negative) / static_cast<double>(shape.groups() * shape.n);
}

HostWeight empty_weight(radiance_format format, int64_t n, int64_t k, int64_t group) {
  HostWeight weight;
  weight.shape = {format, n, k, group == -1 || group > k ? k : group};
  weight.given_group = group;
  weight.codes.resize(offset(n * k / 2));
  const int64_t scale_bytes = format == RADIANCE_MXFP4 ? 1 : 2;
  weight.scales.resize(offset(weight.shape.groups() * n * scale_bytes));
  return weight;
}

HostWeight random_int4_weight(Random& random, int64_t n, int64_t k, int64_t group) {
  HostWeight weight = empty_weight(RADIANCE_AUTOROUND_INT4, n, k, group);
  randomize_bytes(random, weight.codes);
  weight.set_code(random.below(n), random.below(k), 0);
  std::vector<bool> all_subnormal(offset(n));
  for (int64_t i = 0; i < n; ++i) all_subnormal[offset(i)] = random.chance(1.0 / 16);
  for (int64_t g = 0; g < weight.shape.groups(); ++g) {
    for (int64_t i = 0; i < n; ++i) {
      const bool subnormal = all_subnormal[offset(i)] || random.chance(1.0 / 32);
      weight.set_scale(g, i, random_fp16_scale(random, subnormal));
    }
  }
  return weight;
}

HostWeight random_mxfp4_weight(Random& random, int64_t n, int64_t k) {
  HostWeight weight = empty_weight(RADIANCE_MXFP4, n, k, 32);
  randomize_bytes(random, weight.codes);
  for (int64_t i = 0; i < n; ++i) {
    const int64_t base = 119 + random.below(9);
    for (int64_t g = 0; g < weight.shape.groups(); ++g) {
      weight.set_scale(g, i, static_cast<uint16_t>(base - 3 + random.below(7)));
    }
  }
  return weight;
}

HostWeight random_weight(Random& random, radiance_format format, int64_t n, int64_t k,
                         int64_t group) {
  return format == RADIANCE_MXFP4 ? random_mxfp4_weight(random, n, k)
                                  : random_int4_weight(random, n, k, group);
}

float HostRows::at(int64_t row, int64_t column) const {
  return load_float(data.data(), dtype, row * ld + column);
}

void HostRows::set(int64_t row, int64_t column, float value) {
  store_float(data.data(), dtype, row * ld + column, value);
}

HostRows empty_rows(radiance_dtype dtype, int64_t m, int64_t k, int64_t ld) {
  HostRows rows{dtype, m, k, ld == 0 ? k : ld, {}};
  // All ones is a NaN in each of the three types.
  rows.data.assign(offset(m * rows.ld * element_bytes(dtype)), 0xff);
  return rows;
}

HostRows random_rows(Random& random, radiance_dtype dtype, int64_t m, int64_t k, int64_t ld) {
  HostRows rows = empty_rows(dtype, m, k, ld);
  const int64_t first_kind = random.below(8);
  for (int64_t row = 0; row < m; ++row) {
    const int64_t kind = (first_kind + row) % 8;
    auto amplitude = static_cast<float>(std::exp2(random.uniform(-6.0, 6.0)));
    double tiny_share = 1.0 / 16;
    if (kind == 3) amplitude = 0x1p-11f;  // absmax / 448 falls below the smallest scale
    if (kind == 5) tiny_share = 0.75;
    for (int64_t column = 0; column < k; ++column) {
      float value = amplitude * random.normal();
      if (random.chance(tiny_share)) value *= 0x1p-13f;
      if (random.chance(1.0 / 64)) value = std::copysign(0.0f, value);
      rows.set(row, column, value);
    }
    if (kind == 1) {
      for (int i = 0; i < 2; ++i) rows.set(row, random.below(k), amplitude * 60.0f);
    }
  }
  return rows;
}

HostRows plain_rows(Random& random, radiance_dtype dtype, int64_t m, int64_t k) {
  HostRows rows = empty_rows(dtype, m, k);
  std::vector<float> amplitude(offset(k));
  for (float& a : amplitude) a = random.chance(1.0 / 128) ? 10.0f : 1.0f;
  for (int64_t row = 0; row < m; ++row) {
    for (int64_t column = 0; column < k; ++column) {
      rows.set(row, column, amplitude[offset(column)] * random.normal());
    }
  }
  return rows;
}

HostRows cancel_rows(Random& random, radiance_dtype dtype, int64_t m, int64_t k) {
  HostRows rows = empty_rows(dtype, m, k);
  for (int64_t row = 0; row < m; ++row) {
    const float sign = row % 2 == 0 ? 1.0f : -1.0f;
    const auto amplitude = static_cast<float>(std::exp2(random.uniform(-3.0, 3.0)));
    for (int64_t column = 0; column < k; ++column) {
      // Near the maximum, or a few units of e4m3's smallest.
      const double value =
          random.chance(0.5) ? random.uniform(0.8, 1.0) : random.uniform(1.0, 16.0) * 0x1p-18;
      rows.set(row, column, sign * amplitude * static_cast<float>(value));
    }
  }
  return rows;
}

HostRows one_hot_rows(radiance_dtype dtype, int64_t m, int64_t k, int64_t first) {
  HostRows rows = empty_rows(dtype, m, k);
  std::fill(rows.data.begin(), rows.data.end(), uint8_t{0});
  for (int64_t row = 0; row < m; ++row) rows.set(row, first + row, 448.0f);
  return rows;
}

std::vector<uint8_t> random_bias(Random& random, radiance_dtype dtype, int64_t n) {
  std::vector<uint8_t> bias(offset(n * element_bytes(dtype)));
  for (int64_t i = 0; i < n; ++i) store_float(bias.data(), dtype, i, random.normal());
  return bias;
}

}  // namespace radiance::lab
