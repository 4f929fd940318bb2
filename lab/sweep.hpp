// sweep and ablate: a backend's configurations against the planned one, in one timing loop.
#pragma once

#include <vector>

#include "lab/bench.hpp"

namespace radiance::lab {

enum class Variants {
  kConfigs,    // everything legal: tiles, splits, staging widths
  kAblations,  // what leaves something out, with wrong results: the time bounds what it costs
};

// For each shape, format, scope and number of rows, the planned configuration's row first and then
// one for each variant whose name begins with options.config, with `ratio` = its time over the
// planned one's of the same round (1 for the planned one). Throws Error if there are no variants.
std::vector<BenchRow> run_sweep(const Engine& engine, const BenchOptions& options,
                                Variants variants, const BenchEvents& events);

}  // namespace radiance::lab
