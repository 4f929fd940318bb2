#include "lab/perm_map.hpp"

#include <fmt/format.h>

#include <optional>
#include <vector>

namespace radiance::lab {

namespace {

using Operands = HardwareProbes::PermOperands;

constexpr uint32_t kEveryByte = 0x01010101;
constexpr int kPools = 64;
constexpr int kWords = 4096;

uint8_t byte_of(const Operands& operands, int i) {
  return static_cast<uint8_t>((i < 4 ? operands.s1 : operands.s0) >> (8 * (i % 4)));
}

// One byte of a result; nothing for kUnknown.
std::optional<uint8_t> apply(const PermMeaning& meaning, const Operands& operands) {
  switch (meaning.kind) {
    case PermMeaning::Kind::kByte:
      return byte_of(operands, meaning.value);
    case PermMeaning::Kind::kSign:
      return byte_of(operands, meaning.value) >= 0x80 ? uint8_t{0xff} : uint8_t{0};
    case PermMeaning::Kind::kConstant:
      return static_cast<uint8_t>(meaning.value);
    case PermMeaning::Kind::kUnknown:
      break;
  }
  return std::nullopt;
}

// The one meaning that explains all results of a selector; unknown if none does.
PermMeaning explain(const std::vector<Operands>& operands, const std::vector<uint32_t>& results,
                    size_t selector) {
  std::vector<PermMeaning> candidates{{PermMeaning::Kind::kConstant, 0},
                                      {PermMeaning::Kind::kConstant, 0xff}};
  for (int i = 0; i < 8; ++i) {
    candidates.push_back({PermMeaning::Kind::kByte, i});
    candidates.push_back({PermMeaning::Kind::kSign, i});
  }
  for (const PermMeaning& candidate : candidates) {
    bool fits = true;
    for (size_t pool = 0; fits && pool < kPools; ++pool) {
      const size_t at = pool * 256 + selector;
      // The same selector in all four places.
      const std::optional<uint8_t> byte = apply(candidate, operands[at]);
      fits = byte && results[at] == kEveryByte * *byte;
    }
    if (fits) return candidate;
  }
  return {};
}

uint32_t random_word(Random& random) {
  return static_cast<uint32_t>(random.below(int64_t{1} << 32));
}

}  // namespace

std::string describe(const PermMeaning& meaning) {
  const char* operand = meaning.value < 4 ? "S1" : "S0";
  switch (meaning.kind) {
    case PermMeaning::Kind::kByte:
      return fmt::format("byte {} of {}", meaning.value % 4, operand);
    case PermMeaning::Kind::kSign:
      return fmt::format("sign of byte {} of {}", meaning.value % 4, operand);
    case PermMeaning::Kind::kConstant:
      return fmt::format("{:#04x}", meaning.value);
    case PermMeaning::Kind::kUnknown:
      break;
  }
  return "depends on more than a byte";
}

PermMeaning documented_perm(int selector) {
  if (selector < 8) return {PermMeaning::Kind::kByte, selector};
  if (selector < 12) return {PermMeaning::Kind::kSign, 2 * (selector - 8) + 1};
  return {PermMeaning::Kind::kConstant, selector == 12 ? 0 : 0xff};
}

PermMap probe_perm(HardwareProbes& probes, Random& random) {
  PermMap map;
  std::vector<Operands> operands;
  for (int pool = 0; pool < kPools; ++pool) {
    const uint32_t s0 = random_word(random), s1 = random_word(random);
    for (uint32_t selector = 0; selector < 256; ++selector) {
      operands.push_back({s0, s1, selector * kEveryByte});
    }
  }
  const std::vector<uint32_t> results = probes.permute(operands);
  for (size_t selector = 0; selector < map.meaning.size(); ++selector) {
    map.meaning[selector] = explain(operands, results, selector);
  }

  std::vector<Operands> words;
  for (int i = 0; i < kWords; ++i) {
    // Half of the selectors below 16, where it gets interesting.
    const uint32_t mask = i % 2 == 0 ? 0x0f0f0f0fu : 0xffffffffu;
    const uint32_t s0 = random_word(random), s1 = random_word(random);
    words.push_back({s0, s1, random_word(random) & mask});
  }
  const std::vector<uint32_t> mixed = probes.permute(words);
  for (size_t i = 0; i < words.size(); ++i) {
    bool right = true;
    for (int b = 0; b < 4; ++b) {
      const std::optional<uint8_t> want =
          apply(map.meaning[words[i].selector >> (8 * b) & 255u], words[i]);
      right = right && want == static_cast<uint8_t>(mixed[i] >> (8 * b));
    }
    map.wrong_words += !right;
  }
  return map;
}

}  // namespace radiance::lab
