#include <fmt/format.h>

#include <cmath>

#include "lab/suites/exact.hpp"
#include "lab/suites/suites.hpp"
#include "numerics/e4m3.hpp"
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

// Every e4m3 byte, subnormals too, as the matrix unit multiplies it with one.
static void run_operands(Gate& gate, HardwareProbes& probes) {
  const HardwareProbes::OperandTable table = probes.multiply_by_one();
  const auto add = [&](const char* side, const float* values) {
    CaseResult result;
    result.suite = "table";
    result.name = fmt::format("e4m3 operands on the {} of the matrix unit", side);
    for (int byte = 0; byte < 256; ++byte) {
      const float value = e4m3_to_f32(static_cast<u8>(byte));
      if (std::isnan(value) || values[byte] == value) continue;
      result.status = Status::kFailed;
      result.reason = fmt::format("byte {:#04x} counts as {}, not {}", byte, values[byte], value);
      break;
    }
    gate.add(std::move(result));
  };
  add("left", table.left);
  add("right", table.right);
}

void run_table_suite(Gate& gate) {
  HardwareProbes* const probes = gate.engine().backend().hardware_probes();
  if (probes != nullptr) run_operands(gate, *probes);
  add_one_hot_cases(gate, "table", "int4 codes", uniform_codes(RADIANCE_AUTOROUND_INT4));
  add_one_hot_cases(gate, "table", "e2m1 codes", uniform_codes(RADIANCE_MXFP4));
}

}  // namespace radiance::lab
