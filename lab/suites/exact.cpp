#include "lab/suites/exact.hpp"

#include <algorithm>

#include "lab/gate_case.hpp"

namespace radiance::lab {

void add_one_hot_cases(Gate& gate, const std::string& suite, const std::string& name,
                       const HostWeight& weight, FastKernels fast) {
  constexpr int64_t kDecodeRows = 64;
  const int64_t k = weight.shape.k;
  Random random = gate.random(suite.c_str());
  const Problem problem(random, weight, one_hot_rows(RADIANCE_BF16, k, k, 0));
  const DeviceWeight device_weight(gate.engine(), problem.weight);
  for (const char* prefix : {"decode", "prefill"}) {
    const int64_t step = prefix[0] == 'd' ? kDecodeRows : k;
    CaseResult worst;
    for (int64_t first = 0; first < k; first += step) {
      Variation variation;
      variation.suite = suite;
      variation.name = name + " " + prefix;
      variation.m = std::min(step, k - first);
      variation.first_row = first;
      variation.config_prefix = prefix;
      variation.may_fall_back = fast == FastKernels::kIfThere;
      variation.out_dtype = RADIANCE_F32;
      variation.exact = true;
      CaseResult result = run_case(device_weight, problem, variation);
      const bool keep =
          first == 0 || (worst.status == Status::kPassed &&
                         (result.status != Status::kPassed || result.max_elem > worst.max_elem));
      if (keep) worst = std::move(result);
    }
    gate.add(std::move(worst));
  }
}

}  // namespace radiance::lab
