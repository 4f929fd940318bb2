#include "lab/gate_case.hpp"
#include "lab/suites/grid.hpp"
#include "lab/suites/suites.hpp"

namespace radiance::lab {

void run_prefill_suite(Gate& gate) {
  Grid grid{.suite = "prefill",
            .format = RADIANCE_AUTOROUND_INT4,
            .config_prefix = "prefill",
            .shapes = kPrefillShapes,
            .rows = kPrefillRows};
  run_grid(gate, grid);
  // gfx1201 also has the variants of the project's log: sums folded slab by slab, and those of a
  // group of all tiles folded at once.
  for (const char* variant : {"prefill/baseline/n2", "prefill/baseline/n2/group"}) {
    const GateShape& first = kPrefillShapes[0];
    const WeightShape shape{grid.format, first.n, first.k, kGateGroup};
    if (!find_config(gate.engine().backend(), shape, kPrefillRows[0], variant)) continue;
    grid.config_prefix = variant;
    run_grid(gate, grid);
  }
}

}  // namespace radiance::lab
