#include "lab/suites/exact.hpp"
#include "lab/suites/suites.hpp"

namespace radiance::lab {

// 128 features times 256 k are 4096 words of eight codes.
void run_unpack_suite(Gate& gate) {
  Random random = gate.random("unpack");
  add_one_hot_cases(gate, "unpack", "4096 int4 words", random_int4_weight(random, 128, 256, 128));
  add_one_hot_cases(gate, "unpack", "4096 mxfp4 words", random_mxfp4_weight(random, 128, 256));
}

}  // namespace radiance::lab
