#include "lab/suites/grid.hpp"
#include "lab/suites/suites.hpp"

namespace radiance::lab {

void run_prefill_suite(Gate& gate) {
  run_grid(gate, {.suite = "prefill",
                  .format = RADIANCE_AUTOROUND_INT4,
                  .config_prefix = "prefill",
                  .shapes = kPrefillShapes,
                  .rows = kPrefillRows});
}

}  // namespace radiance::lab
