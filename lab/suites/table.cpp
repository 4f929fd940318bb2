#include "lab/suites/exact.hpp"
#include "lab/suites/suites.hpp"
#include "numerics/f16.hpp"

namespace radiance::lab {

// Feature n holds code n in every k, with scale 1: the outputs spell the table.
static HostWeight uniform_codes(radiance_format format) {
  constexpr int64_t kDepth = 128;
  HostWeight weight = empty_weight(format, 16, kDepth, format == RADIANCE_MXFP4 ? 32 : kDepth);
  for (int64_t n = 0; n < 16; ++n) {
    for (int64_t k = 0; k < kDepth; ++k) weight.set_code(n, k, static_cast<uint32_t>(n));
    for (int64_t g = 0; g < weight.shape.groups(); ++g) {
      weight.set_scale(g, n, format == RADIANCE_MXFP4 ? uint16_t{127} : f32_to_f16(1.0f));
    }
  }
  return weight;
}

void run_table_suite(Gate& gate) {
  add_one_hot_cases(gate, "table", "int4 codes", uniform_codes(RADIANCE_AUTOROUND_INT4));
  add_one_hot_cases(gate, "table", "e2m1 codes", uniform_codes(RADIANCE_MXFP4));
}

}  // namespace radiance::lab
