// The generator behind every drawn input: small, fast, and the same on every platform (the standard
// library's distributions are not).
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>

namespace radiance::lab {

// xoshiro256** (Blackman and Vigna), seeded by splitmix64.
class Random {
 public:
  explicit Random(uint64_t seed) {
    for (uint64_t& word : state_) {
      seed += 0x9e3779b97f4a7c15u;
      uint64_t z = seed;
      z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
      z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
      word = z ^ (z >> 31);
    }
  }

  uint64_t next() {
    const uint64_t result = std::rotl(state_[1] * 5, 7) * 9;
    const uint64_t shifted = state_[1] << 17;
    state_[2] ^= state_[0];
    state_[3] ^= state_[1];
    state_[1] ^= state_[2];
    state_[0] ^= state_[3];
    state_[2] ^= shifted;
    state_[3] = std::rotl(state_[3], 45);
    return result;
  }

  // Uniform in [0, 1).
  double uniform() { return static_cast<double>(next() >> 11) * 0x1p-53; }
  double uniform(double low, double high) { return low + (high - low) * uniform(); }

  // Uniform in 0..count-1 (the bias of the multiplication is below 2^-32 for our counts).
  int64_t below(int64_t count) {
    return static_cast<int64_t>(((next() >> 32) * static_cast<uint64_t>(count)) >> 32);
  }

  bool chance(double probability) { return uniform() < probability; }

  // Near enough to a normal deviate: the sum of four uniforms, scaled to variance 1 (|z| < 3.5).
  float normal() {
    const uint64_t bits = next();
    const int sum = static_cast<int>((bits & 0xffffu) + ((bits >> 16) & 0xffffu) +
                                     ((bits >> 32) & 0xffffu) + (bits >> 48));
    return static_cast<float>(sum - 131070) * (1.7320508f / 65536.0f);
  }

  // Another generator, independent of what this one draws later.
  Random fork() { return Random(next()); }

 private:
  uint64_t state_[4];
};

// The seed of one suite or case, from the run's seed and what it is for: a suite draws the same
// inputs whichever suites ran before it.
constexpr uint64_t derived_seed(uint64_t seed, const char* purpose, uint64_t index = 0) {
  uint64_t hash = 0xcbf29ce484222325u ^ seed;
  for (const char* c = purpose; *c != '\0'; ++c) {
    hash = (hash ^ static_cast<uint8_t>(*c)) * 0x100000001b3u;
  }
  return (hash ^ (index + 0x9e3779b97f4a7c15u)) * 0x100000001b3u;
}

}  // namespace radiance::lab
