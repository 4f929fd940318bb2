// Order statistics of timing samples.
#pragma once

#include <vector>

namespace radiance::lab {

// The p-quantile (0 <= p <= 1) of the samples, linear between order statistics. NaN if empty.
double quantile(std::vector<double> samples, double p);

double median(const std::vector<double>& samples);

// The interquartile range over the median: the spread that every table here prints. NaN if empty.
double spread(const std::vector<double>& samples);

}  // namespace radiance::lab
