#include "lab/suites/exact.hpp"
#include "lab/suites/suites.hpp"

namespace radiance::lab {

// Modes 0 and 1 vary the codes along one axis and localize what mode 2, along both, only finds: a
// permutation within the other axis cannot be seen in them.
void run_onehot_suite(Gate& gate) {
  constexpr int64_t kN = 72, kK = 264;  // whole tiles of no kernel, and a short last group
  for (const radiance_format format : {RADIANCE_AUTOROUND_INT4, RADIANCE_MXFP4}) {
    const int64_t k_extent = format == RADIANCE_MXFP4 ? 288 : kK;
    for (uint64_t mode = 0; mode < 3; ++mode) {
      Random random = gate.random("onehot", mode);
      HostWeight weight = random_weight(random, format, kN, k_extent, 128);
      if (mode < 2) {
        for (int64_t n = 0; n < kN; ++n) {
          for (int64_t k = 0; k < k_extent; ++k) {
            const uint32_t code = mode == 0 ? weight.code(n, 0) : weight.code(0, k);
            weight.set_code(n, k, code);
          }
        }
      }
      add_one_hot_cases(
          gate, "onehot",
          (format == RADIANCE_MXFP4 ? "mxfp4 mode " : "int4 mode ") + std::to_string(mode), weight);
    }
  }
}

}  // namespace radiance::lab
