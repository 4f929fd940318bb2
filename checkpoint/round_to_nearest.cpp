#include "checkpoint/round_to_nearest.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include "numerics/e2m1.hpp"
#include "numerics/e8m0.hpp"
#include "numerics/f16.hpp"
#include "numerics/int4.hpp"

namespace radiance {

namespace {

constexpr float kSmallestScale = 1e-5f;
constexpr size_t kMxfp4Block = 32;
constexpr u32 kInfinityBits = 0x7f800000u;

struct Extremes {
  float positive = 0;  // largest element, 0 if none is positive
  float negative = 0;  // magnitude of the smallest element, 0 if none is negative
  bool finite = true;
};

// Floats of one sign are ordered as their bits are: integer maxima vectorize where those of floats,
// with NaN to think of, do not.
Extremes find_extremes(const float* values, size_t count) {
  i32 largest = 0;
  u32 smallest = 0;
  for (size_t i = 0; i < count; ++i) {
    const u32 bits = float_bits(values[i]);
    largest = std::max(largest, static_cast<i32>(bits));
    smallest = std::max(smallest, bits);
  }
  const u32 positive = static_cast<u32>(largest);
  const u32 negative = smallest >= 0x80000000u ? smallest & 0x7fffffffu : 0;
  return {float_from_bits(positive), float_from_bits(negative),
          positive < kInfinityBits && negative < kInfinityBits};
}

// Adds the error of `restored` against `values`, in independent lanes so that it vectorizes.
void accumulate(const float* values, const float* restored, size_t count, WeightError& error) {
  constexpr size_t kLanes = 8;
  double squared_error[kLanes] = {};
  double squared_weight[kLanes] = {};
  float largest[kLanes] = {};
  size_t i = 0;
  const auto add = [&](size_t lane, size_t at) {
    const float difference = values[at] - restored[at];
    squared_error[lane] += static_cast<double>(difference) * difference;
    squared_weight[lane] += static_cast<double>(values[at]) * values[at];
    const float magnitude = std::fabs(difference);
    largest[lane] = largest[lane] < magnitude ? magnitude : largest[lane];
  };
  for (; i + kLanes <= count; i += kLanes) {
    for (size_t lane = 0; lane < kLanes; ++lane) add(lane, i + lane);
  }
  for (; i < count; ++i) add(i % kLanes, i);
  for (size_t lane = 0; lane < kLanes; ++lane) {
    error.add({squared_error[lane], squared_weight[lane], largest[lane]});
  }
}

// Round half to even, for |x| < 2^22: the sum has no bits below the units.
float round_half_even(float x) {
  constexpr float kShift = 12582912.0f;  // 1.5 * 2^23
  return (x + kShift) - kShift;
}

// Restored values of a row; a thread's own, so that rows do not allocate.
float* restored_row(size_t count) {
  thread_local std::vector<float> row;
  if (row.size() < count) row.resize(count);
  return row.data();
}

}  // namespace

void WeightError::add(const WeightError& other) {
  squared_error += other.squared_error;
  squared_weight += other.squared_weight;
  largest = std::max(largest, other.largest);
}

double WeightError::relative() const {
  return squared_weight == 0 ? 0 : std::sqrt(squared_error / squared_weight);
}

RowFault round_row_int4(std::span<const float> row, int64_t group, uint8_t* codes, uint16_t* scales,
                        WeightError& error) {
  float* restored = restored_row(row.size());
  const auto step = static_cast<size_t>(group);
  for (size_t begin = 0; begin < row.size(); begin += step) {
    const size_t count = std::min(step, row.size() - begin);
    const float* values = row.data() + begin;
    const Extremes extremes = find_extremes(values, count);
    if (!extremes.finite) return RowFault::kNotFinite;
    const float absmax = std::max(extremes.positive, extremes.negative);
    const float magnitude = std::max(absmax / 8.0f, kSmallestScale);
    const bool negative = absmax > 0 && extremes.positive >= extremes.negative;
    const u16 scale_bits = f32_to_f16(negative ? -magnitude : magnitude);
    if (!f16_is_finite(scale_bits)) return RowFault::kOverflow;
    const float scale = f16_to_f32(scale_bits);
    *scales++ = scale_bits;
    for (size_t i = 0; i < count; ++i) {
      const float code = round_half_even(values[i] / scale);
      const float clamped = std::min(std::max(code, -8.0f), 7.0f);
      codes[begin + i] = static_cast<uint8_t>(static_cast<int>(clamped) + kSymmetricZero);
      restored[begin + i] = clamped * scale;
    }
  }
  accumulate(row.data(), restored, row.size(), error);
  return RowFault::kNone;
}

RowFault round_row_mxfp4(std::span<const float> row, uint8_t* codes, uint8_t* scales,
                         WeightError& error) {
  constexpr int kLargestExponent = 2;  // of e2m1: 6 = 1.5 * 2^2
  float* restored = restored_row(row.size());
  const size_t blocks = row.size() / kMxfp4Block;
  int largest = -1;
  for (size_t block = 0; block < blocks; ++block) {
    const float* values = row.data() + block * kMxfp4Block;
    const Extremes extremes = find_extremes(values, kMxfp4Block);
    if (!extremes.finite) return RowFault::kNotFinite;
    const float absmax = std::max(extremes.positive, extremes.negative);
    int s = 0;
    if (absmax > 0) {
      s = std::clamp(std::ilogb(absmax) - kLargestExponent + 127, 0, 254);
      largest = std::max(largest, s);
    }
    scales[block] = static_cast<uint8_t>(s);
    const float scale = e8m0_to_f32(static_cast<u8>(s));
    for (size_t i = 0; i < kMxfp4Block; ++i) {
      const size_t at = block * kMxfp4Block + i;
      codes[at] = f32_to_e2m1(values[i] / scale);
      restored[at] = e2m1_to_f32(codes[at]) * scale;
    }
    if (absmax == 0) {
      std::fill_n(codes + block * kMxfp4Block, kMxfp4Block, uint8_t{0});  // no -0
      scales[block] = kE8m0Nan;  // marked, and replaced below
    }
  }
  std::replace(scales, scales + blocks, kE8m0Nan, static_cast<u8>(largest < 0 ? 127 : largest));
  accumulate(row.data(), restored, row.size(), error);
  return RowFault::kNone;
}

}  // namespace radiance
