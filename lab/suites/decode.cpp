#include "lab/suites/grid.hpp"
#include "lab/suites/suites.hpp"

namespace radiance::lab {

void run_decode_suite(Gate& gate) {
  run_grid(gate, {.suite = "decode",
                  .format = RADIANCE_AUTOROUND_INT4,
                  .config_prefix = "decode",
                  .shapes = kDecodeShapes,
                  .rows = kDecodeRows});
}

}  // namespace radiance::lab
