// Every MXFP4 configuration on the emulator, folded and not.
#include <gtest/gtest.h>

#include <cmath>

#include "numerics/e2m1.hpp"
#include "tests/kernels/gfx1201/emulated_gemm.hpp"

namespace radiance::gfx1201 {
namespace {

using test::check_configs;
using test::Problem;

// reach: how many binades the blocks of a feature are apart at most.
Problem make_problem(std::mt19937& rng, int64_t m, int64_t n, int64_t k, int reach) {
  Problem p;
  p.shape = {RADIANCE_MXFP4, n, k, 32};
  p.m = m;
  for (int64_t i = 0; i < n * k / 2; ++i) p.codes.push_back(static_cast<uint8_t>(rng()));
  for (int64_t row = 0; row < n; ++row) {
    const int base = 80 + static_cast<int>(rng() % 60);
    for (int64_t block = 0; block < k / 32; ++block) {
      // The first two blocks are as far apart as can be.
      const int up = block == 0   ? 0
                     : block == 1 ? reach
                                  : static_cast<int>(rng() % static_cast<unsigned>(reach + 1));
      p.scales.push_back(static_cast<uint8_t>(base + up));
    }
  }
  for (int64_t row = 0; row < n; ++row) {
    for (int64_t i = 0; i < k; ++i) {
      const uint8_t code = p.codes[static_cast<size_t>((row * k + i) / 2)] >> (i % 2 * 4) & 15;
      const int s = p.scales[static_cast<size_t>(row * (k / 32) + i / 32)];
      p.weights.push_back(std::ldexp(e2m1_to_f32(code), s - 127));
    }
  }
  test::fill_rows(rng, p);
  return p;
}

constexpr int kFolded = 14, kTooFar = 15;

TEST(Gfx1201Mxfp4, DecodeMatchesAnFp64Sum) {
  std::mt19937 rng(31);
  std::set<std::string> seen;
  for (const int reach : {kFolded, kTooFar}) {
    seen.clear();
    for (const int64_t m : {3, 17, 48, 64}) {
      seen.merge(check_configs(make_problem(rng, m, 150, 640, reach)));
      if (HasFatalFailure()) return;
    }
    for (const char* config : {"decode/r1/s1", "decode/r2/s2", "decode/r3/s4", "decode/r4/s1"}) {
      EXPECT_TRUE(seen.contains(config)) << config;
    }
  }
}

TEST(Gfx1201Mxfp4, PrefillMatchesAnFp64Sum) {
  std::mt19937 rng(32);
  for (const int reach : {kFolded, kTooFar}) {
    std::set<std::string> seen = check_configs(make_problem(rng, 256, 128, 256, reach));
    seen.merge(check_configs(make_problem(rng, 300, 200, 128, reach)));
    EXPECT_TRUE(seen.contains("prefill/n2"));
    EXPECT_TRUE(seen.contains("prefill/n4"));
    if (HasFatalFailure()) return;
  }
}

TEST(Gfx1201Mxfp4, GeneralMatchesAnFp64Sum) {
  std::mt19937 rng(33);
  for (const int64_t k : {32, 160, 1056}) {
    for (const int64_t m : {1, 9}) {
      EXPECT_EQ(check_configs(make_problem(rng, m, 130, k, 40)), std::set<std::string>{"general"});
      if (HasFatalFailure()) return;
    }
  }
}

}  // namespace
}  // namespace radiance::gfx1201
