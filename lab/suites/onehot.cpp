#include "lab/suites/exact.hpp"
#include "lab/suites/suites.hpp"

namespace radiance::lab {

namespace {

struct OneHotShape {
  const char* name;
  int64_t n, k;
  FastKernels fast;
};

// Whole slabs, which the fast kernels take, with a ragged last tile; and whole tiles of no kernel,
// with a short last group.
constexpr OneHotShape kInt4Shapes[] = {{"int4", 200, 384, FastKernels::kRequired},
                                       {"int4 odd shape", 72, 264, FastKernels::kIfThere}};
constexpr OneHotShape kMxfp4Shapes[] = {{"mxfp4", 200, 384, FastKernels::kRequired},
                                        {"mxfp4 odd shape", 72, 288, FastKernels::kIfThere}};

// Modes 0 and 1 vary the codes along one axis and localize what mode 2, along both, only finds: a
// permutation within the other axis cannot be seen in them.
void run_modes(Gate& gate, radiance_format format, const OneHotShape& shape) {
  for (uint64_t mode = 0; mode < 3; ++mode) {
    Random random = gate.random("onehot", mode);
    HostWeight weight = random_weight(random, format, shape.n, shape.k, 128);
    if (mode < 2) {
      for (int64_t n = 0; n < shape.n; ++n) {
        for (int64_t k = 0; k < shape.k; ++k) {
          const uint32_t code = mode == 0 ? weight.code(n, 0) : weight.code(0, k);
          weight.set_code(n, k, code);
        }
      }
    }
    add_one_hot_cases(gate, "onehot", std::string(shape.name) + " mode " + std::to_string(mode),
                      weight, shape.fast);
  }
}

}  // namespace

void run_onehot_suite(Gate& gate) {
  for (const OneHotShape& shape : kInt4Shapes) run_modes(gate, RADIANCE_AUTOROUND_INT4, shape);
  for (const OneHotShape& shape : kMxfp4Shapes) run_modes(gate, RADIANCE_MXFP4, shape);
}

}  // namespace radiance::lab
