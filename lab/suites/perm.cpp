#include "lab/suites/suites.hpp"

namespace radiance::lab {

void run_perm_suite(Gate& gate) {
  CaseResult result;
  result.suite = "perm";
  result.name = "v_perm_b32 selectors";
  result.status = Status::kSkipped;
  result.reason = "a probe of gfx1201, and this device is " + gate.engine().device().info().arch;
  gate.add(std::move(result));
}

}  // namespace radiance::lab
