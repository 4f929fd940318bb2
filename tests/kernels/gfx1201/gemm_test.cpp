// Every int4 configuration on the emulator: the first place where a wrong kernel shows. The gate
// (lab/) is the full test.
#include <gtest/gtest.h>

#include "kernels/gfx1201/geometry.hpp"
#include "numerics/f16.hpp"
#include "tests/kernels/gfx1201/emulated_gemm.hpp"

namespace radiance::gfx1201 {
namespace {

using test::check_configs;
using test::int4_problem;
using test::OnDevice;
using test::open_emulator;
using test::Problem;

TEST(Gfx1201Gemm, DecodeMatchesAnFp64Sum) {
  std::mt19937 rng(20261130);
  std::set<std::string> seen;
  for (const int64_t m : {1, 16, 17, 33, 47, 64}) {
    seen.merge(check_configs(int4_problem(rng, m, 150, 640, m == 17 ? 640 : 128)));
    if (HasFatalFailure()) return;
  }
  for (const int row_tiles : {1, 2, 3, 4}) {
    for (const char* kind : {"decode/r", "decode/baseline/r"}) {
      for (const int split : {1, 2, 4}) {
        const std::string config = kind + std::to_string(row_tiles) + "/s" + std::to_string(split);
        EXPECT_TRUE(seen.contains(config)) << config;
      }
    }
  }
  for (const char* kind :
       {"r1/staging4", "r1/staging16", "r1/priority", "r1/prefetch", "r1/register_prefetch",
        "r1/predicate", "r1/late_scale", "r3/predicate", "r3/late_scale", "r3/spare_row_tile",
        "r1/whole_barriers", "r2/whole_barriers", "r1/one_buffer", "r4/one_buffer", "r1/dot1"}) {
    EXPECT_TRUE(seen.contains(std::string("ablate/decode/") + kind)) << kind;
  }
}

TEST(Gfx1201Gemm, DotProductsMatchAnFp64Sum) {
  std::mt19937 rng(13);
  const auto device = open_emulator(1);
  const auto backend = make_backend(*device);
  for (const int64_t rows : {1, 2, 4}) {
    const std::string config = "ablate/decode/r1/dot" + std::to_string(rows);
    for (int64_t m = 1; m <= rows; ++m) {
      const Problem p = int4_problem(rng, m, 150, 640, 128);
      OnDevice tensors(*device, *backend, p);
      backend->pack(p.shape, p.desc(), tensors.packed.get());
      PackedHeader header;
      device->download(&header, tensors.packed.get(), sizeof(header));
      test::expect_matches(p, test::run(*device, *backend, p, tensors, header, config), config);
      if (HasFatalFailure()) return;
    }
  }
}

// Whole blocks and ragged ones alike: the upper half of what fp32 output holds.
TEST(Gfx1201Gemm, CutBf16RoundsNowhere) {
  std::mt19937 rng(14);
  const auto device = open_emulator(1);
  const auto backend = make_backend(*device);
  for (const auto& [m, config, whole] :
       {std::tuple{int64_t{300}, "ablate/prefill/n2/cut_bf16", "prefill/baseline/n2"},
        {int64_t{9}, "ablate/decode/r1/cut_bf16", "decode/baseline/r1/s1"}}) {
    const Problem p = int4_problem(rng, m, 70, 256, 128);
    OnDevice tensors(*device, *backend, p);
    backend->pack(p.shape, p.desc(), tensors.packed.get());
    PackedHeader header;
    device->download(&header, tensors.packed.get(), sizeof(header));
    const std::vector<float> exact = test::run(*device, *backend, p, tensors, header, whole);
    GemmCall call = tensors.call(p, config);
    call.y_dtype = RADIANCE_BF16;
    backend->gemm(header, tensors.packed.get(), call);
    std::vector<uint16_t> cut(exact.size());
    device->download(cut.data(), tensors.y.get(), cut.size() * 2);
    for (size_t i = 0; i < cut.size(); ++i) {
      ASSERT_EQ(cut[i], float_bits(exact[i]) >> 16) << config << " element " << i;
    }
  }
}

TEST(Gfx1201Gemm, PrefillMatchesAnFp64Sum) {
  std::mt19937 rng(7);
  std::set<std::string> seen;
  // Whole tiles, ragged ones, and more row blocks than go side by side.
  seen.merge(check_configs(int4_problem(rng, 256, 128, 256, 128)));
  seen.merge(check_configs(int4_problem(rng, 300, 200, 384, 384)));
  seen.merge(check_configs(int4_problem(rng, 9 * kPrefillM - 3, 136, 128, 128)));
  for (const char* config :
       {"prefill/n2", "prefill/n4", "prefill/baseline/n2", "prefill/baseline/n4",
        "prefill/baseline/n2/group", "ablate/prefill/n2/priority", "ablate/prefill/n2/prefetch",
        "ablate/prefill/n2/register_prefetch", "ablate/prefill/n2/predicate",
        "ablate/prefill/n2/late_scale", "ablate/prefill/n2/reread_weights",
        "ablate/prefill/n2/ragged_epilogue", "ablate/prefill/n2/whole_barriers"}) {
    EXPECT_TRUE(seen.contains(config)) << config;
  }
}

TEST(Gfx1201Gemm, GroupsOf64And32MatchAnFp64Sum) {
  std::mt19937 rng(10);
  for (const int64_t group : {64, 32}) {
    for (const int64_t m : {7, 32, 40, 64}) {
      EXPECT_EQ(check_configs(int4_problem(rng, m, 150, 640, group)).size(), 5u);
      if (HasFatalFailure()) return;
    }
    EXPECT_EQ(check_configs(int4_problem(rng, 300, 200, 384, group)).size(), 2u);
    if (HasFatalFailure()) return;
  }
}

TEST(Gfx1201Gemm, GeneralMatchesAnFp64Sum) {
  std::mt19937 rng(8);
  for (const auto& [k, group] :
       {std::pair<int64_t, int64_t>{256, 16}, {320, 64}, {200, 128}, {1000, 1000}, {72, 40}}) {
    for (const int64_t m : {1, 9}) {
      EXPECT_EQ(check_configs(int4_problem(rng, m, 130, k, group)),
                std::set<std::string>{"general"});
      if (HasFatalFailure()) return;
    }
  }
}

// A row's result depends neither on the other rows nor on how many there are, but for what
// policy.hpp says of configurations.
TEST(Gfx1201Gemm, RowsDoNotDependOnTheBatch) {
  std::mt19937 rng(12);
  const Problem all = int4_problem(rng, 64, 150, 640, 128);
  Problem few = all;
  few.m = 5;
  const auto device = open_emulator(1);
  const auto backend = make_backend(*device);
  const auto rows = [&](const Problem& p, const char* config) {
    OnDevice tensors(*device, *backend, p);
    backend->pack(p.shape, p.desc(), tensors.packed.get());
    PackedHeader header;
    device->download(&header, tensors.packed.get(), sizeof(header));
    std::vector<float> y = test::run(*device, *backend, p, tensors, header, config);
    y.resize(static_cast<size_t>(few.m * p.shape.n));
    return y;
  };
  EXPECT_EQ(rows(all, "decode/r4/s1"), rows(few, "decode/r1/s1"));
  EXPECT_EQ(rows(all, "decode/r4/s4"), rows(few, "decode/r1/s4"));
  EXPECT_EQ(rows(all, "decode/r4/s1"), rows(few, "prefill/n2"));
  EXPECT_EQ(rows(all, "prefill/n4"), rows(few, "prefill/n4"));
}

TEST(Gfx1201Gemm, RefusesWhatItsLoadsCannotTake) {
  std::mt19937 rng(9);
  const Problem p = int4_problem(rng, 3, 16, 128, 128);
  const auto device = open_emulator(1);
  const auto backend = make_backend(*device);
  OnDevice tensors(*device, *backend, p);
  backend->pack(p.shape, p.desc(), tensors.packed.get());
  PackedHeader header;
  device->download(&header, tensors.packed.get(), sizeof(header));
  const auto refused = [&](const GemmCall& call) {
    try {
      backend->gemm(header, tensors.packed.get(), call);
    } catch (const Error& error) {
      return error.status();
    }
    return RADIANCE_OK;
  };
  GemmCall call = tensors.call(p, "decode/r1/s1");
  call.xq += 8;
  EXPECT_EQ(refused(call), RADIANCE_INVALID_ARGUMENT);
  call = tensors.call(p, "decode/r1/s1");
  call.ldy = int64_t{1} << 27;
  EXPECT_EQ(refused(call), RADIANCE_UNSUPPORTED);
  EXPECT_EQ(refused(tensors.call(p, "decode/r2/s1")), RADIANCE_INVALID_ARGUMENT);
  EXPECT_EQ(refused(tensors.call(p, "decode/r1/s1")), RADIANCE_OK);
}

}  // namespace
}  // namespace radiance::gfx1201
