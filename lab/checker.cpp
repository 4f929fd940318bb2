#include "lab/checker.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "lab/elements.hpp"

namespace radiance::lab {

namespace {

constexpr uint8_t kPoison = 0xff;

// An element that nobody wrote.
uint32_t poison_bits(radiance_dtype dtype) { return dtype == RADIANCE_F32 ? 0xffffffffu : 0xffffu; }

uint8_t guard_byte(int64_t index) { return static_cast<uint8_t>(0x35 + 11 * index); }

double largest_finite(radiance_dtype dtype) {
  switch (dtype) {
    case RADIANCE_F16:
      return 65504.0;
    case RADIANCE_F32:
      return 0x1.fffffep127;
    default:
      return 0x1.fep127;
  }
}

std::string check_guards(const OutputLayout& layout, const std::vector<uint8_t>& image) {
  const auto total = static_cast<int64_t>(image.size());
  for (int64_t i = 0; i < OutputLayout::kGuardBytes; ++i) {
    if (image[static_cast<size_t>(i)] != guard_byte(i)) {
      return fmt::format("the byte {} before the output was written",
                         OutputLayout::kGuardBytes - i);
    }
  }
  for (int64_t i = total - OutputLayout::kGuardBytes; i < total; ++i) {
    if (image[static_cast<size_t>(i)] != guard_byte(i)) {
      return fmt::format("a byte behind the {} rows that follow the output was written",
                         OutputLayout::kRowsPast);
    }
  }
  const uint8_t* y = image.data() + layout.origin();
  const int64_t size = element_bytes(layout.dtype);
  for (int64_t row = 0; row < layout.m + OutputLayout::kRowsPast; ++row) {
    const int64_t first = row < layout.m ? layout.n : 0;
    for (int64_t byte = first * size; byte < layout.ldy * size; ++byte) {
      if (y[row * layout.ldy * size + byte] == kPoison) continue;
      return row < layout.m ? fmt::format("row {} was written at column {}, past N = {}", row,
                                          byte / size, layout.n)
                            : fmt::format("row {}, past M = {}, was written at column {}", row,
                                          layout.m, byte / size);
    }
  }
  return "";
}

}  // namespace

int64_t OutputLayout::image_bytes() const {
  return 2 * kGuardBytes + (m + kRowsPast) * ldy * element_bytes(dtype);
}

std::vector<uint8_t> poisoned_image(const OutputLayout& layout) {
  std::vector<uint8_t> image(static_cast<size_t>(layout.image_bytes()), kPoison);
  const int64_t total = layout.image_bytes();
  for (int64_t i = 0; i < OutputLayout::kGuardBytes; ++i) {
    image[static_cast<size_t>(i)] = guard_byte(i);
    const int64_t behind = total - OutputLayout::kGuardBytes + i;
    image[static_cast<size_t>(behind)] = guard_byte(behind);
  }
  return image;
}

Bound bound_for(radiance_dtype dtype, const std::string& target) {
  const double t = target == "sm90" ? 0x1p-12 : 0x1p-19;
  switch (dtype) {
    case RADIANCE_F16:
      return {0x1p-11, 0x1p-25, t};
    case RADIANCE_F32:
      return {0x1p-24, 0x1p-150, t};
    default:
      return {0x1p-8, 0x1p-134, t};
  }
}

OutputVerdict check_output(const OutputLayout& layout, const std::vector<uint8_t>& image,
                           const Expectation& expectation) {
  OutputVerdict verdict;
  verdict.failure = check_guards(layout, image);
  auto fail = [&](int64_t row, int64_t column, const std::string& what) {
    if (verdict.failure.empty()) {
      verdict.failure = fmt::format("y[{}][{}] {}", row, column, what);
    }
  };
  const Bound& bound = expectation.bound;
  const uint32_t poison = poison_bits(layout.dtype);
  const double largest = largest_finite(layout.dtype);
  const uint8_t* y = image.data() + layout.origin();
  double squared_error = 0, squared_reference = 0;
  for (int64_t row = 0; row < layout.m; ++row) {
    for (int64_t n = 0; n < layout.n; ++n) {
      const uint32_t bits = load_bits(y, layout.dtype, row * layout.ldy + n);
      const double got = bits_to_float(bits, layout.dtype);
      const auto at = static_cast<size_t>(row * layout.n + n);
      const double bias = expectation.bias != nullptr ? expectation.bias[n] : 0;
      const double want = expectation.value[at] + bias;
      const double limit = bound.u * std::fabs(want) + bound.a +
                           bound.t * (expectation.magnitude[at] + std::fabs(bias));
      if (bits == poison) {
        fail(row, n, "was not written");
        continue;
      }
      if (std::isnan(want)) {
        if (!std::isnan(got)) fail(row, n, fmt::format("is {}, where its row must be NaN", got));
        continue;
      }
      if (!std::isfinite(got)) {
        const bool overflows = std::isinf(got) && std::signbit(got) == std::signbit(want) &&
                               std::fabs(want) + limit > largest;
        if (!overflows) fail(row, n, fmt::format("is {}, the reference {:.9g}", got, want));
        continue;
      }
      const double error = std::fabs(got - want);
      squared_error += error * error;
      squared_reference += want * want;
      verdict.max_elem = std::max(verdict.max_elem, error / limit);
      if (error > limit) {
        fail(row, n,
             fmt::format("is {:.9g}, the reference {:.9g}: the error {:.3g} exceeds {:.3g}", got,
                         want, error, limit));
      } else if (expectation.exact && got != want) {
        fail(row, n, fmt::format("is {:.9g}, and must be exactly {:.9g}", got, want));
      }
    }
  }
  verdict.rel = squared_reference > 0 ? std::sqrt(squared_error / squared_reference) : 0;
  if (verdict.failure.empty() && !(verdict.rel <= kMaxRelativeError)) {
    verdict.failure =
        fmt::format("the relative error {:.3g} exceeds {:.0e}", verdict.rel, kMaxRelativeError);
  }
  return verdict;
}

std::string check_written(const OutputLayout& layout, const std::vector<uint8_t>& image) {
  std::string failure = check_guards(layout, image);
  const uint8_t* y = image.data() + layout.origin();
  for (int64_t row = 0; row < layout.m && failure.empty(); ++row) {
    for (int64_t n = 0; n < layout.n; ++n) {
      if (load_bits(y, layout.dtype, row * layout.ldy + n) != poison_bits(layout.dtype)) continue;
      failure = fmt::format("y[{}][{}] was not written", row, n);
      break;
    }
  }
  return failure;
}

std::string compare_images(const OutputLayout& layout, const std::vector<uint8_t>& first,
                           const std::vector<uint8_t>& second) {
  const auto [a, b] = std::mismatch(first.begin(), first.end(), second.begin(), second.end());
  if (a == first.end() && b == second.end()) return "";
  const int64_t element = ((a - first.begin()) - layout.origin()) / element_bytes(layout.dtype);
  return fmt::format("y[{}][{}] differs", element / layout.ldy, element % layout.ldy);
}

}  // namespace radiance::lab
