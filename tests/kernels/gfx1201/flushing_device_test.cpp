// A device whose matrix unit flushes e4m3 subnormals, which nobody has seen and nothing rules out:
// the backend finds out and leaves alone what would be wrong there.
#include <gtest/gtest.h>

#include <cstring>

#include "numerics/e2m1.hpp"
#include "numerics/f16.hpp"
#include "tests/kernels/gfx1201/emulated_gemm.hpp"
#include "tests/kernels/gfx1201/emulator_control.hpp"

namespace radiance::gfx1201 {
namespace {

using test::Problem;

// Makes activations normal: such a device takes subnormals for zeros.
Problem without_subnormals(Problem p) {
  for (uint8_t& byte : p.xq) {
    if ((byte & 0x78) == 0) byte |= 0x08;
  }
  return p;
}

Problem make_problem(int64_t m) {
  std::mt19937 rng(static_cast<unsigned>(m));
  return without_subnormals(test::int4_problem(rng, m, 150, 512, 128));
}

class FlushingDevice : public testing::Test {
 protected:
  FlushingDevice() : loads_it_(test::open_emulator(1)) { set_flushing(true); }
  ~FlushingDevice() override { set_flushing(false); }
  static void set_flushing(bool on) {
    EXPECT_TRUE(test::EmulatorControl().set_option("flush_fp8", on ? "1" : "0"));
  }

 private:
  std::unique_ptr<Device> loads_it_;
};

TEST_F(FlushingDevice, RunsTheKernelsThatUnpackByTable) {
  for (const int64_t m : {5, 40, 257}) {
    const std::set<std::string> seen = test::check_configs(make_problem(m));
    if (HasFatalFailure()) return;
    EXPECT_FALSE(seen.empty());
    for (const std::string& config : seen) {
      EXPECT_TRUE(config.find("/baseline") != std::string::npos || config.starts_with("ablate/"))
          << config;
    }
  }
}

TEST_F(FlushingDevice, PlansAndExplainsThem) {
  const auto device = test::open_emulator(1);
  const auto backend = make_backend(*device);
  const Plan plan = backend->plan({RADIANCE_AUTOROUND_INT4, 150, 512, 128}, 5);
  EXPECT_EQ(plan.config.find("decode/baseline"), 0U) << plan.config;
  EXPECT_NE(plan.reason.find("flushes e4m3 subnormals"), std::string::npos) << plan.reason;
  // Smaller groups have no such kernel and go to the general one.
  EXPECT_EQ(backend->plan({RADIANCE_AUTOROUND_INT4, 150, 512, 64}, 5).config, "general");
}

// The option does what the test rests on: the kernels that are planned otherwise are wrong then.
TEST_F(FlushingDevice, WouldBreakTheOthers) {
  set_flushing(false);
  const Problem p = make_problem(5);
  const auto device = test::open_emulator(1);
  const auto backend = make_backend(*device);  // asks while nothing is flushed
  test::OnDevice tensors(*device, *backend, p);
  backend->pack(p.shape, p.desc(), tensors.packed.get());
  PackedHeader header;
  device->download(&header, tensors.packed.get(), sizeof(header));
  const auto right = test::run(*device, *backend, p, tensors, header, "decode/r1/s1");
  set_flushing(true);
  const auto wrong = test::run(*device, *backend, p, tensors, header, "decode/r1/s1");
  EXPECT_NE(std::memcmp(right.data(), wrong.data(), right.size() * 4), 0);
  const auto table = test::run(*device, *backend, p, tensors, header, "decode/baseline/r1/s1");
  test::expect_matches(p, table, "decode/baseline/r1/s1");
}

TEST_F(FlushingDevice, HasMxfp4FoldedWithoutSubnormals) {
  std::mt19937 rng(5);
  // 11 binades fold without subnormals, 14 only with them.
  for (const int reach : {11, 14}) {
    const auto scale = [&](int64_t, int64_t block) {
      return 110 + static_cast<int>(block % 2) * reach;
    };
    test::check_configs(without_subnormals(test::mxfp4_problem(rng, 7, 40, 256, scale)));
    if (HasFatalFailure()) return;
  }
}

}  // namespace
}  // namespace radiance::gfx1201
