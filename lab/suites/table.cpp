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

static bool is_subnormal(int byte) { return (byte & 0x78) == 0 && (byte & 0x07) != 0; }

// What is wrong with the normal bytes, or the subnormal ones, as the matrix unit multiplied them
// with one; "" if nothing is.
static std::string first_wrong(const float* values, bool subnormal) {
  for (int byte = 0; byte < 256; ++byte) {
    const float value = e4m3_to_f32(static_cast<u8>(byte));
    if (std::isnan(value) || is_subnormal(byte) != subnormal || values[byte] == value) continue;
    return fmt::format("byte {:#04x} counts as {}, not {}", byte, values[byte], value);
  }
  return "";
}

static bool flushes(const float* values) {
  for (int byte = 0; byte < 256; ++byte) {
    if (is_subnormal(byte) && values[byte] != 0) return false;
  }
  return true;
}

// Every e4m3 byte as the matrix unit multiplies it with one. Subnormals it may keep or flush: the
// policy asks for itself, and plans kernels without them where they are flushed. The emulator only
// assumes that they are kept, so that there they decide nothing.
static void run_operands(Gate& gate, HardwareProbes& probes) {
  const HardwareProbes::OperandTable table = probes.multiply_by_one();
  const bool emulated = gate.engine().device().info().name == "emu";
  const auto add = [&](const char* side, const float* values) {
    CaseResult normal;
    normal.suite = "table";
    normal.name = fmt::format("e4m3 operands on the {} of the matrix unit", side);
    normal.reason = first_wrong(values, false);
    if (!normal.reason.empty()) normal.status = Status::kFailed;
    gate.add(std::move(normal));
    CaseResult subnormal;
    subnormal.suite = "table";
    subnormal.name = fmt::format("e4m3 subnormals on the {} of the matrix unit", side);
    const std::string wrong = first_wrong(values, true);
    const char* const found = wrong.empty() ? "kept" : flushes(values) ? "flushed" : "neither";
    if (emulated) {
      subnormal.status = Status::kSkipped;
      subnormal.reason =
          fmt::format("an assumption of the emulator, which a card decides: {}", found);
    } else if (!wrong.empty() && !flushes(values)) {
      subnormal.status = Status::kFailed;
      subnormal.reason = wrong;
    } else {
      subnormal.note = found;
    }
    gate.add(std::move(subnormal));
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
