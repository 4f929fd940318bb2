#include "lab/suites/grid.hpp"

#include "lab/gate_case.hpp"

namespace radiance::lab {

void run_grid(Gate& gate, const Grid& grid) {
  constexpr radiance_dtype kOut[] = {RADIANCE_BF16, RADIANCE_F16, RADIANCE_F32};
  uint64_t index = 0;
  for (const GateShape& shape : grid.shapes) {
    gate.progress(grid.suite + " " + shape.name());
    Random random = gate.random((grid.suite + grid.config_prefix).c_str(), index);
    HostWeight weight = random_weight(random, grid.format, shape.n, shape.k, kGateGroup);
    HostRows rows = random_rows(random, RADIANCE_BF16, grid.rows.back(), shape.k);
    const Problem problem(random, std::move(weight), std::move(rows));
    const DeviceWeight device_weight(gate.engine(), problem.weight);
    for (const int64_t m : grid.rows) {
      Variation variation;
      variation.suite = grid.suite;
      variation.name = shape.name() + " M=" + std::to_string(m);
      variation.m = m;
      variation.config_prefix = grid.config_prefix;
      if (grid.vary_output) {
        variation.out_dtype = kOut[index % 3];
        variation.bias = index % 2 == 1;
      }
      ++index;
      gate.add(run_case(device_weight, problem, variation));
    }
  }
}

}  // namespace radiance::lab
