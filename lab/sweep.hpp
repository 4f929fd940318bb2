// sweep and ablate: a backend's configurations against the planned one, in one timing loop.
#pragma once

#include <vector>

#include "lab/bench.hpp"

namespace radiance::lab {

enum class Variants {
  kConfigs,    // everything legal: tiles, splits, staging widths
  kAblations,  // what leaves something out: the time that goes bounds what it costs
};

// For each shape, format, scope and number of rows, the planned configuration's row first and then
// one for each variant whose name begins with options.config. `ratio` is the row's time over that
// of `ratio_to` in the same round: the planned configuration, or for an ablation the one that it is
// a variant of, whose row stands before it. Throws Error if there are no variants.
std::vector<BenchRow> run_sweep(const Engine& engine, const BenchOptions& options,
                                Variants variants, const BenchEvents& events);

}  // namespace radiance::lab
