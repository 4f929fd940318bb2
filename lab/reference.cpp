#include "lab/reference.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <memory>

#include "lab/parallel.hpp"
#include "lab/reference_kernel.hpp"
#include "numerics/e4m3.hpp"

namespace radiance::lab {

namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

constexpr int kTile = kReferenceTile;
constexpr int kRows = kReferenceRows;
// Consecutive k dequantized at a time (16 KB of doubles).
constexpr int kDepth = 128;

using Slab = std::array<double, kDepth * kTile>;

ReferenceKernel best_kernel() {
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx512f")) return reference_kernel_avx512;
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) return reference_kernel_avx2;
#endif
  return reference_kernel_plain;
}

// xq as doubles, rows padded with zeros to a multiple of kRows.
std::vector<double> decoded(const QuantizedRows& rows) {
  std::array<double, 256> table{};
  for (int byte = 0; byte < 256; ++byte) {
    table[static_cast<size_t>(byte)] = e4m3_to_f32(static_cast<u8>(byte));
  }
  const int64_t padded = (rows.m + kRows - 1) / kRows * kRows;
  std::vector<double> values(static_cast<size_t>(padded * rows.k));
  for (int64_t row = 0; row < rows.m; ++row) {
    if (std::isnan(rows.scales[static_cast<size_t>(row)])) continue;  // the caller makes it NaN
    for (int64_t k = 0; k < rows.k; ++k) {
      const auto i = static_cast<size_t>(row * rows.k + k);
      values[i] = table[rows.xq[i]];
    }
  }
  return values;
}

// Features first..first+15 of the weight, k0..k0+depth-1, without their scales. Features past the
// weight's last repeat it.
void dequantize(const HostWeight& weight, int64_t first, int64_t k0, int depth, Slab& slab) {
  std::array<double, 16> table{};
  for (uint32_t code = 0; code < 16; ++code) table[code] = code_value(weight.shape.format, code);
  for (int lane = 0; lane < kTile; ++lane) {
    const int64_t n = std::min(first + lane, weight.shape.n - 1);
    auto at = static_cast<size_t>(lane);
    for (int64_t k = k0; k < k0 + depth; ++k, at += kTile) slab[at] = table[weight.code(n, k)];
  }
}

}  // namespace

QuantizedRows quantize_rows(const HostRows& rows, int64_t group) {
  QuantizedRows out;
  out.m = rows.m;
  out.k = rows.k;
  out.group = group == -1 ? rows.k : group;
  const int64_t groups = (rows.k + out.group - 1) / out.group;
  out.xq.resize(static_cast<size_t>(rows.m * rows.k));
  out.scales.resize(static_cast<size_t>(rows.m));
  out.row_sums.resize(static_cast<size_t>(rows.m * groups));
  std::vector<float> x(static_cast<size_t>(rows.k));
  for (int64_t row = 0; row < rows.m; ++row) {
    float absmax = 0;
    bool finite = true;
    for (int64_t k = 0; k < rows.k; ++k) {
      const float value = rows.at(row, k);
      x[static_cast<size_t>(k)] = value;
      finite = finite && std::isfinite(value);
      absmax = std::max(absmax, std::fabs(value));
    }
    const float scale = finite ? activation_scale(absmax) : std::numeric_limits<float>::quiet_NaN();
    out.scales[static_cast<size_t>(row)] = scale;
    uint8_t* xq = &out.xq[static_cast<size_t>(row * rows.k)];
    for (int64_t g = 0; g < groups; ++g) {
      double sum = 0;  // exact
      for (int64_t k = g * out.group; k < std::min(rows.k, (g + 1) * out.group); ++k) {
        xq[k] = finite ? f32_to_e4m3(x[static_cast<size_t>(k)] / scale) : kE4m3Nan;
        sum += e4m3_to_f32(xq[k]);
      }
      out.row_sums[static_cast<size_t>(row * groups + g)] = static_cast<float>(sum);
    }
  }
  return out;
}

Reference reference_product(const HostWeight& weight, const QuantizedRows& rows) {
  const WeightShape& shape = weight.shape;
  const int64_t groups = shape.groups();
  const int64_t padded = (rows.m + kRows - 1) / kRows * kRows;
  const std::vector<double> x = decoded(rows);

  // sum |xq| over each group: B needs no pass over the weight.
  std::vector<double> absolute(static_cast<size_t>(rows.m * groups));
  for (int64_t row = 0; row < rows.m; ++row) {
    for (int64_t k = 0; k < rows.k; ++k) {
      absolute[static_cast<size_t>(row * groups + k / shape.group)] +=
          std::fabs(x[static_cast<size_t>(row * rows.k + k)]);
    }
  }

  Reference out;
  out.m = rows.m;
  out.n = shape.n;
  out.value.resize(static_cast<size_t>(rows.m * shape.n));
  out.magnitude.resize(static_cast<size_t>(rows.m * shape.n));
  const ReferenceKernel run = best_kernel();

  parallel_ranges(shape.n, kTile, [&](int64_t n0, int64_t n1) {
    auto slab = std::make_unique<Slab>();
    std::vector<double> group_sums(static_cast<size_t>(padded * kTile));
    for (int64_t first = n0; first < n1; first += kTile) {
      const int width = static_cast<int>(std::min<int64_t>(kTile, n1 - first));
      for (int64_t g = 0; g < groups; ++g) {
        std::fill(group_sums.begin(), group_sums.end(), 0.0);
        const int64_t last = std::min(shape.k, (g + 1) * shape.group);
        for (int64_t k0 = g * shape.group; k0 < last; k0 += kDepth) {
          const int depth = static_cast<int>(std::min<int64_t>(kDepth, last - k0));
          dequantize(weight, first, k0, depth, *slab);
          for (int64_t row = 0; row < padded; row += kRows) {
            run(slab->data(), depth, &x[static_cast<size_t>(row * rows.k + k0)], rows.k,
                &group_sums[static_cast<size_t>(row * kTile)]);
          }
        }
        for (int lane = 0; lane < width; ++lane) {
          const double scale = weight.scale(g, first + lane);
          for (int64_t row = 0; row < rows.m; ++row) {
            const auto at = static_cast<size_t>(row * shape.n + first + lane);
            out.value[at] += scale * group_sums[static_cast<size_t>(row * kTile + lane)];
            out.magnitude[at] +=
                8 * std::fabs(scale) * absolute[static_cast<size_t>(row * groups + g)];
          }
        }
      }
    }
  });

  for (int64_t row = 0; row < rows.m; ++row) {
    const double scale = rows.scales[static_cast<size_t>(row)];
    for (int64_t n = 0; n < shape.n; ++n) {
      const auto at = static_cast<size_t>(row * shape.n + n);
      out.value[at] = std::isnan(scale) ? kNan : out.value[at] * scale;
      out.magnitude[at] = std::isnan(scale) ? kNan : out.magnitude[at] * scale;
    }
  }
  return out;
}

}  // namespace radiance::lab
