#include "lab/gate_case.hpp"
#include "lab/suites/suites.hpp"

namespace radiance::lab {

namespace {

enum class Codes { kRandom, kAll8, k7To9, kOneHot };

void set_codes(Random& random, HostWeight& weight, Codes codes) {
  if (codes == Codes::kRandom) return;
  const WeightShape& shape = weight.shape;
  for (int64_t n = 0; n < shape.n; ++n) {
    for (int64_t k = 0; k < shape.k; ++k) {
      weight.set_code(n, k, codes == Codes::k7To9 ? static_cast<uint32_t>(7 + random.below(3)) : 8);
    }
    if (codes == Codes::kOneHot) {
      const auto code = static_cast<uint32_t>(random.below(15));
      weight.set_code(n, random.below(shape.k), code < 8 ? code : code + 1);
    }
  }
}

}  // namespace

// An offset code's product is 8 times the activations' sum away from the result: what the
// accumulator loses there is seen where the result itself is small or zero.
void run_cancel_suite(Gate& gate) {
  constexpr struct {
    const char* name;
    Codes codes;
  } kKinds[] = {{"random codes", Codes::kRandom},
                {"codes all 8", Codes::kAll8},
                {"codes 7..9", Codes::k7To9},
                {"one-hot codes", Codes::kOneHot}};
  constexpr radiance_dtype kOut[] = {RADIANCE_BF16, RADIANCE_F32};
  uint64_t index = 0;
  for (const auto& kind : kKinds) {
    Random random = gate.random("cancel", index++);
    HostWeight weight = random_int4_weight(random, 136, 2048, 128);
    set_codes(random, weight, kind.codes);
    const Problem problem(random, std::move(weight), cancel_rows(random, RADIANCE_BF16, 64, 2048));
    const DeviceWeight device_weight(gate.engine(), problem.weight);
    for (const char* prefix : {"decode", "prefill"}) {
      for (const int64_t m : {1, 16, 64}) {
        for (const radiance_dtype out : kOut) {
          Variation variation;
          variation.suite = "cancel";
          variation.name = std::string(kind.name) + " " + prefix;
          variation.m = m;
          variation.config_prefix = prefix;
          variation.out_dtype = out;
          gate.add(run_case(device_weight, problem, variation));
        }
      }
    }
  }
}

}  // namespace radiance::lab
