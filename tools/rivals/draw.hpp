// Random bit patterns for weights: of either sign, all exponents near 2^-7.
#pragma once

#include <cstdint>
#include <vector>

#include "lab/random.hpp"

namespace rivals {

using radiance::lab::Random;

inline uint16_t draw_f16(uint64_t bits) {
  return static_cast<uint16_t>((bits & 0x83ffu) | ((6 + ((bits >> 16) & 3u)) << 10));
}

inline uint16_t draw_bf16(uint64_t bits) {
  return static_cast<uint16_t>((bits & 0x807fu) | ((118 + ((bits >> 8) & 3u)) << 7));
}

// `count` values of four times 16 random bits each.
template <typename Value, typename Draw>
std::vector<Value> draw_values(uint64_t seed, size_t count, const Draw& draw) {
  Random random(seed);
  std::vector<Value> values(count);
  size_t i = 0;
  for (; i + 4 <= count; i += 4) {
    uint64_t bits = random.next();
    for (size_t j = 0; j < 4; ++j, bits >>= 16) values[i + j] = draw(bits);
  }
  for (; i < count; ++i) values[i] = draw(random.next());
  return values;
}

}  // namespace rivals
