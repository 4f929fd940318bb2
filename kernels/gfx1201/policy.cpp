#include "kernels/gfx1201/policy.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>

namespace radiance::gfx1201 {
namespace {

constexpr int64_t kDecodeRows = kMaxRowTiles * kTileM;
constexpr int kSplits[] = {1, 2, 4};
// Offsets of a workgroup's rows are 32 bits: 256 rows of k bytes.
constexpr int64_t kMaxK = int64_t{1} << 23;
constexpr int64_t kMaxN = kMaxOutputStride;

int64_t ceil_div(int64_t value, int64_t by) { return (value + by - 1) / by; }
int64_t round_up(int64_t value, int64_t to) { return ceil_div(value, to) * to; }

int row_tiles_for(int64_t m) {
  return static_cast<int>(ceil_div(std::min(m, kDecodeRows), kTileM));
}

int64_t decode_blocks(const WeightShape& shape) { return ceil_div(shape.n, kDecodeN); }

bool splits_into(const WeightShape& shape, int parts) {
  return shape.k / kSlabK >= parts && (parts == 1 || decode_blocks(shape) * 4 <= kCounterBytes);
}

// Rows from which 128 features a workgroup beat 64. Measured at 64 compute units: 2048 rows; it is
// when the machine is full with half the workgroups.
int64_t wide_prefill_rows(int units) { return int64_t{32} * units; }

// The legal choices for a call, without allocating: a forward asks for them.
class Choices {
 public:
  void add(const Choice& choice) { all_[count_++] = choice; }
  const Choice* begin() const { return all_; }
  const Choice* end() const { return all_ + count_; }

 private:
  Choice all_[16];
  int count_ = 0;
};

void add_decode(Choices& all, const WeightShape& shape, int64_t m, int units, bool baseline) {
  bool taken[std::size(kSplits)] = {};
  for (;;) {  // the cheapest of those left
    int best = -1;
    for (int i = 0; i < static_cast<int>(std::size(kSplits)); ++i) {
      if (taken[i] || !splits_into(shape, kSplits[i])) continue;
      if (best < 0 ||
          decode_cost(shape, m, kSplits[i], units) < decode_cost(shape, m, kSplits[best], units)) {
        best = i;
      }
    }
    if (best < 0) return;
    taken[best] = true;
    Choice choice;
    choice.kernel = Kernel::kDecode;
    choice.baseline = baseline;
    choice.row_tiles = row_tiles_for(m);
    choice.split = kSplits[best];
    all.add(choice);
  }
}

void add_prefill(Choices& all, int column_tiles, bool baseline, bool group_fold = false) {
  Choice choice;
  choice.kernel = Kernel::kPrefill;
  choice.baseline = baseline;
  choice.column_tiles = column_tiles;
  choice.group_fold = group_fold;
  all.add(choice);
}

Choices choices(const WeightShape& shape, int64_t m, const Traits& traits) {
  Choices all;
  const int folds = scale_folds(shape, traits.keeps_subnormals);
  if (folds == 0) {
    all.add(Choice{});
    return all;
  }
  const int wide = m >= wide_prefill_rows(traits.units) ? 4 : 2;
  for (const bool baseline : {false, true}) {
    // MXFP4 and groups below 128 have one structure; without subnormals less of MXFP4 is folded.
    const bool one_structure = shape.format == RADIANCE_MXFP4 || folds > 1;
    if (one_structure ? baseline : !baseline && !traits.keeps_subnormals) continue;
    if (m <= kDecodeRows) add_decode(all, shape, m, traits.units, baseline);
    add_prefill(all, wide, baseline);
    add_prefill(all, 6 - wide, baseline);
    if (baseline) add_prefill(all, 2, true, true);
  }
  return all;
}

std::string reason(const Choice& choice, const WeightShape& shape, int64_t m,
                   const Traits& traits) {
  const std::string units = std::to_string(traits.units) + " units";
  std::string text = std::to_string(m) + " rows of " + std::to_string(shape.n) + "x" +
                     std::to_string(shape.k) + ": ";
  switch (choice.kernel) {
    case Kernel::kDecode:
      text +=
          std::to_string(decode_blocks(shape)) + " workgroups, K in " +
          std::to_string(choice.split) + ", on " + units + " cost " +
          std::to_string(std::llround(decode_cost(shape, m, choice.split, traits.units) / 1000)) +
          " KB of weights' stream";
      break;
    case Kernel::kPrefill:
      text += "tiles of 256x" + std::to_string(prefill_n(choice.column_tiles)) + " on " + units +
              ", 128 features wide from " + std::to_string(wide_prefill_rows(traits.units)) +
              " rows";
      break;
    case Kernel::kGeneral:
      return text + "group " + std::to_string(shape.group) + " or k " + std::to_string(shape.k) +
             " does not fit the matrix kernels";
  }
  if (choice.baseline) text += "; baseline structure";
  if (!traits.keeps_subnormals) text += ", as the device flushes e4m3 subnormals";
  return text;
}

}  // namespace

std::string config_name(const Choice& choice) {
  const std::string kind = choice.baseline ? "/baseline" : "";
  switch (choice.kernel) {
    case Kernel::kDecode:
      return "decode" + kind + "/r" + std::to_string(choice.row_tiles) + "/s" +
             std::to_string(choice.split);
    case Kernel::kPrefill:
      return "prefill" + kind + "/n" + std::to_string(choice.column_tiles) +
             (choice.group_fold ? "/group" : "");
    case Kernel::kGeneral:
      break;
  }
  return "general";
}

int scale_folds(const WeightShape& shape, bool keeps_subnormals) {
  if (shape.k % kSlabK != 0 || shape.k > kMaxK || shape.n > kMaxN) return 0;
  if (shape.format == RADIANCE_MXFP4 || shape.group % kSlabK == 0) return 1;
  if (shape.group != 64 && shape.group != 32) return 0;
  return keeps_subnormals ? static_cast<int>(kSlabK / shape.group) : 0;
}

// Splitting K fills the machine and pays with partial sums. Fitted to nine measured cells at 64
// compute units (three shapes, 5 to 64 rows): a machine with too few workgroups streams slower by a
// square law that ends at two workgroups a unit, and a byte of partial sums, written once and read
// once by a single workgroup, costs as much as a byte of weights. The split it picks is the fastest
// measured one in all nine.
double decode_cost(const WeightShape& shape, int64_t m, int split, int units) {
  const auto n = static_cast<double>(shape.n), k = static_cast<double>(shape.k);
  const double scales =
      shape.format == RADIANCE_MXFP4 ? n * k / 32 : n * static_cast<double>(shape.groups()) * 2;
  const double weights = n * k / 2 + scales;
  const double blocks = static_cast<double>(decode_blocks(shape) * split);
  const double share = units / (2 * blocks);
  const double idle = std::max(0.0, share * share - 1.0 / 16);
  const double partials = split > 1 ? static_cast<double>(split * m) * n * 4 : 0;
  return weights * (1 + idle) + partials;
}

std::vector<Plan> plans(const WeightShape& shape, int64_t m, const Traits& traits) {
  std::vector<Plan> all;
  for (const Choice& choice : choices(shape, m, traits)) {
    all.push_back({config_name(choice), reason(choice, shape, m, traits)});
  }
  return all;
}

Choice choose(const WeightShape& shape, int64_t m, const Traits& traits, const char* config) {
  const Choices all = choices(shape, m, traits);
  if (config == nullptr) return *all.begin();
  std::string names;
  for (const Choice& choice : all) {
    const std::string name = config_name(choice);
    if (name == config) return choice;
    names += " " + name;
  }
  throw Error(RADIANCE_INVALID_ARGUMENT, std::string("no configuration is called \"") + config +
                                             "\" for " + std::to_string(m) + " rows; there are" +
                                             names);
}

Workspace lay_out_workspace(const WeightShape& shape, int64_t m, const Traits& traits) {
  constexpr int64_t kAlignment = 256;
  Workspace w;
  w.partials = kCounterBytes;
  int64_t partial_bytes = 0;
  if (scale_folds(shape, traits.keeps_subnormals) != 0) {
    int split = 1;
    for (const int parts : kSplits) {
      if (splits_into(shape, parts)) split = parts;
    }
    if (split > 1) {
      partial_bytes = decode_blocks(shape) * split * decode_partial_floats(row_tiles_for(m)) * 4;
    }
  }
  w.scales = w.partials + partial_bytes;
  w.xq = w.scales + round_up(m * 4, kAlignment);
  w.bytes = w.xq + round_up(m * shape.k, kAlignment);
  return w;
}

}  // namespace radiance::gfx1201
