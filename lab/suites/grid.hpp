// A grid of cases: shapes by numbers of rows, under one kind of configuration.
#pragma once

#include <span>
#include <string>

#include "lab/gate.hpp"
#include "lab/suites/shapes.hpp"

namespace radiance::lab {

struct Grid {
  std::string suite;
  radiance_format format = RADIANCE_AUTOROUND_INT4;
  std::string config_prefix;
  std::span<const GateShape> shapes;
  std::span<const int64_t> rows;  // ascending
  // Go through the output types and biases case by case; otherwise bf16 without bias, so that rel
  // can be compared across runs and devices.
  bool vary_output = false;
};

// One weight and one fp64 product a shape; every number of rows is its first rows.
void run_grid(Gate& gate, const Grid& grid);

}  // namespace radiance::lab
