// Which gfx1201 kernel a call takes: a pure function of the shape, the rows and the device.
#pragma once

#include <string>
#include <vector>

#include "kernels/backend.hpp"
#include "kernels/gfx1201/geometry.hpp"

namespace radiance::gfx1201 {

// What the policy knows of a device.
struct Traits {
  int units = 64;  // compute units
  // Whether the matrix unit multiplies e4m3 subnormals as such. Where it does not, only the kernels
  // that unpack by table are right.
  bool keeps_subnormals = true;
};

enum class Kernel { kDecode, kPrefill, kGeneral };

struct Choice {
  Kernel kernel = Kernel::kGeneral;
  bool baseline = false;
  int row_tiles = 1;     // decode: of 16 rows
  int split = 1;         // decode: parts of K
  int column_tiles = 2;  // prefill: of a wave
  bool group_fold = false;
};

// "decode/r2/s4", "decode/baseline/r2/s4", "prefill/n2", "prefill/baseline/n2/group", "general".
std::string config_name(const Choice& choice);

// How many scales a slab and feature have for the matrix kernels: 1 for groups that are multiples
// of 128 (also for MXFP4, whose blocks have a layout of their own), 2 and 4 for groups of 64 and
// 32; 0 if only the general kernels take the weight, which they do in the checkpoint's order.
// Without subnormals there are matrix kernels for groups of 128 alone.
int scale_folds(const WeightShape& shape, bool keeps_subnormals);

// The largest row stride of an output, in elements, that the matrix kernels' 32-bit offsets reach.
constexpr int64_t kMaxOutputStride = int64_t{1} << 26;

// What a decode with K in `split` parts would cost, in bytes of weights that the memory could
// stream meanwhile; see policy.cpp.
double decode_cost(const WeightShape& shape, int64_t m, int split, int units);

// What a configuration computes for a row does not depend on the other rows. Which one is planned
// depends on m: decode adds the slabs of each part of K in order and then the parts, so that
// results differ in rounding with the split; without a split it agrees with prefill/n2 to the bit;
// prefill/n4 adds half slabs.
//
// The legal configurations for a weight and m rows, the planned one first.
std::vector<Plan> plans(const WeightShape& shape, int64_t m, const Traits& traits);

// The configuration called `config`, or the planned one if null. Throws Error if it is not legal.
Choice choose(const WeightShape& shape, int64_t m, const Traits& traits, const char* config);

// Where things stand in a workspace. Counters come first, in as many bytes for weights of every
// shape and calls of every m: the layers of a model share a workspace, and where one counts another
// must leave nothing. Features that need more counters (a million) are never split.
constexpr int64_t kCounterBytes = int64_t{64} << 10;
struct Workspace {
  int64_t counters = 0, partials = 0, scales = 0, xq = 0, bytes = 0;
};
Workspace lay_out_workspace(const WeightShape& shape, int64_t m, const Traits& traits);

}  // namespace radiance::gfx1201
