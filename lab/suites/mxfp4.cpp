#include <algorithm>

#include "lab/gate_case.hpp"
#include "lab/suites/grid.hpp"
#include "lab/suites/suites.hpp"

namespace radiance::lab {

namespace {

// Exponents of every size: features whose blocks lie near one base, anywhere between 2^-127 and
// 2^100, and features whose blocks spread over hundreds of binades (beyond what a fold into e4m3
// bytes could hold).
void run_exponents(Gate& gate) {
  constexpr int64_t kN = 96, kK = 512, kMaxRows = 64;
  Random random = gate.random("mxfp4 exponents");
  HostWeight weight = random_mxfp4_weight(random, kN, kK);
  for (int64_t n = 0; n < kN; ++n) {
    const int64_t base = random.below(228);
    const int64_t reach = n % 3 == 0 ? 228 - base : 7;
    for (int64_t g = 0; g < weight.shape.groups(); ++g) {
      weight.set_scale(g, n,
                       static_cast<uint16_t>(std::min<int64_t>(base + random.below(reach), 227)));
    }
  }
  HostRows rows = random_rows(random, RADIANCE_BF16, kMaxRows, kK);
  const Problem problem(random, std::move(weight), std::move(rows));
  const DeviceWeight device_weight(gate.engine(), problem.weight);
  for (const char* prefix : {"decode", "prefill"}) {
    for (const int64_t m : {int64_t{1}, int64_t{16}, kMaxRows}) {
      for (const radiance_dtype out : {RADIANCE_BF16, RADIANCE_F32}) {
        Variation variation;
        variation.suite = "mxfp4";
        variation.name = std::string("exponents ") + prefix + " M=" + std::to_string(m);
        variation.m = m;
        variation.config_prefix = prefix;
        variation.out_dtype = out;
        gate.add(run_case(device_weight, problem, variation));
      }
    }
  }
}

}  // namespace

void run_mxfp4_suite(Gate& gate) {
  static const GateShape kSmall[] = {{128, 512}, {48, 640}, {200, 384}};
  static const GateShape kProduction[] = {{5120, 8704}};
  constexpr int64_t kProductionRows[] = {1, 8, 64};
  Grid grid{.suite = "mxfp4",
            .format = RADIANCE_MXFP4,
            .config_prefix = "decode",
            .shapes = kSmall,
            .rows = kDecodeRows,
            .vary_output = true};
  run_grid(gate, grid);
  grid.shapes = kProduction;
  grid.rows = kProductionRows;
  grid.vary_output = false;
  run_grid(gate, grid);
  grid.config_prefix = "prefill";
  grid.shapes = kPrefillShapes;
  grid.rows = kPrefillRows;
  grid.vary_output = true;
  run_grid(gate, grid);
  run_exponents(gate);
}

}  // namespace radiance::lab
