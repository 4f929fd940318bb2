#include "kernels/sm90/policy.hpp"

#include "kernels/sm90/pack.hpp"

namespace radiance::sm90 {
namespace {

constexpr int kDecodeTokens[] = {8, 16, 32, 64};

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

std::vector<Plan> plans(const WeightShape& shape, int64_t m, int multiprocessors) {
  const std::string size =
      std::to_string(m) + " tokens of " + std::to_string(shape.n) + "x" + std::to_string(shape.k);
  if (!scale_kind(shape)) {
    return {{"general", size + ": group " + std::to_string(shape.group) +
                            " or k does not fit the tensor core tiles"}};
  }
  const Plan prefill = {"prefill/t128", size + ": 256x128 tiles on " +
                                            std::to_string(multiprocessors) + " multiprocessors"};
  if (m > 64 || !has_counters(shape)) return {prefill};
  return {
      {decode_name(decode_tokens(m)), size + ": the weights' stream is the cost, stream-K over " +
                                          std::to_string(multiprocessors) + " multiprocessors"},
      prefill};
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
  if (chosen == "prefill/t128") return {Choice::Kernel::kPrefill, kPrefillTokens};
  for (const int tokens : kDecodeTokens) {
    if (chosen == decode_name(tokens)) return {Choice::Kernel::kDecode, tokens};
  }
  return {Choice::Kernel::kDecode, 64};
}

}  // namespace radiance::sm90
