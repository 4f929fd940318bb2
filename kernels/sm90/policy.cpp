#include "kernels/sm90/policy.hpp"

#include <algorithm>
#include <array>

#include "kernels/sm90/pack.hpp"

namespace radiance::sm90 {
namespace {

constexpr int kDecodeTokens[] = {8, 16, 32, 64};
constexpr int64_t kMostDecoded = 64;

// Tiles of 256 tokens unpack a code half as often. Tiles of 128 are better where half of the others
// would be empty, and where so few of the others share the multiprocessors that adding up their
// sums costs more (measured: 40 tiles of 256 take 30.4 us, 80 of 128 28.7; 80 of 256 46.2, 160 of
// 128 48.0).
std::array<int, 2> prefill_order(const WeightShape& shape, int64_t m, int multiprocessors) {
  const int64_t wide = (m + 255) / 256 * ((shape.n + kPrefillN - 1) / kPrefillN);
  if (m <= 128 || 2 * wide < multiprocessors) return {128, 256};
  return {256, 128};
}

std::string prefill_name(int tokens) { return "prefill/t" + std::to_string(tokens); }

bool has_counters(const WeightShape& shape) {
  constexpr int64_t kTile = 4 * kTileN;  // decode's largest
  return (shape.n + kTile - 1) / kTile * 4 * 4 <= kCounterBytes;
}

std::string decode_name(int tokens) { return "decode/t" + std::to_string(tokens); }

}  // namespace

int decode_tokens(int64_t m) {
  for (const int tokens : kDecodeTokens) {
    if (m <= tokens) return tokens;
  }
  return 64;
}

int decode_trigger(int64_t places, int64_t blocks, int tokens) {
  // The next kernel's blocks find room beside this one's only up to 16 tokens. Where a block has
  // many turns of its stages they had better come late, and fill theirs while this kernel ends
  // (measured: 82 slabs a block 17.5 for 18.0 us, whole operation; 41 slabs 12.3 for 11.9, 24
  // slabs 9.7 for 8.7).
  return tokens <= 16 && places >= 60 * blocks ? 18 : -1;
}

std::vector<Plan> plans(const WeightShape& shape, int64_t m, int multiprocessors) {
  const std::string size =
      std::to_string(m) + " tokens of " + std::to_string(shape.n) + "x" + std::to_string(shape.k);
  if (!scale_kind(shape)) {
    return {{"general", size + ": group " + std::to_string(shape.group) +
                            " or k does not fit the tensor core tiles"}};
  }
  std::vector<Plan> all;
  if (m <= kMostDecoded && has_counters(shape)) {
    all.push_back(
        {decode_name(decode_tokens(m)), size + ": the weights' stream is the cost, stream-K over " +
                                            std::to_string(multiprocessors) + " multiprocessors"});
  }
  for (const int tokens : prefill_order(shape, m, multiprocessors)) {
    all.push_back({prefill_name(tokens), size + ": " + std::to_string(kPrefillN) + "x" +
                                             std::to_string(tokens) + " tiles on " +
                                             std::to_string(multiprocessors) + " multiprocessors"});
  }
  return all;
}

int prefill_band(int64_t k, int tokens) {
  constexpr int64_t kBytes = 12 << 20;  // of 60 MB, which two halves share
  return static_cast<int>(std::max<int64_t>(1, kBytes / (k * tokens)));
}

int64_t partial_bytes(const Choice& choice, int64_t m) {
  const int64_t sums = int64_t{4} * choice.tokens;  // of a feature
  switch (choice.kernel) {
    case Choice::Kernel::kDecode:
      return 2 * sums * decode_tile_units(choice.tokens) * kTileN;
    case Choice::Kernel::kPrefill:
      return m > kMostDecoded ? sums * kPrefillN : 0;
    case Choice::Kernel::kGeneral:
      break;
  }
  return 0;
}

int64_t partial_bytes(int64_t m) {
  const int tokens = decode_tokens(std::min(m, kMostDecoded));
  return std::max(partial_bytes({Choice::Kernel::kDecode, tokens}, m),
                  partial_bytes({Choice::Kernel::kPrefill, 256}, m));
}

PrefillGrid prefill_grid(int64_t m, int64_t tiles, int64_t slabs, int multiprocessors) {
  const auto all = static_cast<int64_t>(multiprocessors);
  // The workspace of few tokens has no room for sums.
  if (m <= kMostDecoded || tiles % all == 0) return {static_cast<int>(std::min(tiles, all)), 0};
  // Sums cost a block as long as about eight slabs do.
  if (tiles < all) {
    const int64_t blocks = std::clamp(tiles * slabs / 8, tiles, all);
    return {static_cast<int>(blocks), static_cast<int>(blocks == tiles ? 0 : tiles)};
  }
  return {multiprocessors, static_cast<int>(tiles % all + all)};
}

Choice choose(const WeightShape& shape, int64_t m, int multiprocessors, const char* config) {
  const std::vector<Plan> all = plans(shape, m, multiprocessors);
  std::string chosen = config == nullptr ? all.front().config : config;
  bool legal = false;
  std::string names;
  for (const Plan& plan : all) {
    legal = legal || plan.config == chosen;
    names += " " + plan.config;
  }
  if (!legal) {
    throw Error(RADIANCE_INVALID_ARGUMENT, "no configuration is called \"" + chosen + "\" for " +
                                               std::to_string(m) + " tokens; there are" + names);
  }
  if (chosen == "general") return {Choice::Kernel::kGeneral, 8};
  for (const int tokens : {128, 256}) {
    if (chosen == prefill_name(tokens)) return {Choice::Kernel::kPrefill, tokens};
  }
  for (const int tokens : kDecodeTokens) {
    if (chosen == decode_name(tokens)) return {Choice::Kernel::kDecode, tokens};
  }
  return {Choice::Kernel::kDecode, 64};
}

}  // namespace radiance::sm90
