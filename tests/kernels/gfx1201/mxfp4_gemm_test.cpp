// Every MXFP4 configuration on the emulator, folded and not.
#include <gtest/gtest.h>

#include "numerics/e2m1.hpp"
#include "tests/kernels/gfx1201/emulated_gemm.hpp"

namespace radiance::gfx1201 {
namespace {

using test::check_configs;
using test::Problem;

// reach: how many binades the blocks of a feature are apart at most.
Problem make_problem(std::mt19937& rng, int64_t m, int64_t n, int64_t k, int reach) {
  int base = 0;
  return test::mxfp4_problem(rng, m, n, k, [&](int64_t, int64_t block) {
    if (block == 0) base = 80 + static_cast<int>(rng() % 60);
    // The first two blocks are as far apart as can be.
    return base + (block == 0   ? 0
                   : block == 1 ? reach
                                : static_cast<int>(rng() % static_cast<unsigned>(reach + 1)));
  });
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
