// Which cells of a run a user could do better than: by a rival, or by giving the call more rows.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "lab/bench.hpp"

namespace radiance::lab {

// Rows of a serving step that is not prefill alone; from there on a call is bound by arithmetic,
// and more rows cost more.
constexpr int64_t kBetweenRows = 255;
// A call may take this much longer than one of more rows.
constexpr double kNextAllowance = 1.03;

struct SlowCell {
  const BenchRow* row = nullptr;
  std::string against;  // a rival's name, or "M=96"
  double other_us = 0;

  double ratio() const { return row->us / other_us; }
};

// Rows of M up to kBetweenRows that are slower than the best rival beside them, and those slower by
// more than the allowance than the next larger M of the same shape, format and scope. A rival's
// product stands beside our product and beside our whole operation: its activations come quantized.
std::vector<SlowCell> slow_cells(const std::vector<BenchRow>& rows);

nlohmann::json to_json(const std::vector<SlowCell>& cells);

}  // namespace radiance::lab
