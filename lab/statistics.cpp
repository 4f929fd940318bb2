#include "lab/statistics.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace radiance::lab {

double quantile(std::vector<double> samples, double p) {
  if (samples.empty()) return std::numeric_limits<double>::quiet_NaN();
  std::sort(samples.begin(), samples.end());
  const double position = p * static_cast<double>(samples.size() - 1);
  const auto below = static_cast<size_t>(position);
  const size_t above = std::min(below + 1, samples.size() - 1);
  const double weight = position - static_cast<double>(below);
  return samples[below] + weight * (samples[above] - samples[below]);
}

double median(const std::vector<double>& samples) { return quantile(samples, 0.5); }

double spread(const std::vector<double>& samples) {
  return (quantile(samples, 0.75) - quantile(samples, 0.25)) / median(samples);
}

}  // namespace radiance::lab
