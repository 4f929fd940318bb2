// A device whose matrix unit flushes e4m3 subnormals, which nobody has seen and nothing rules out:
// the backend finds out and leaves alone what would be wrong there.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>

#include "numerics/e2m1.hpp"
#include "numerics/f16.hpp"
#include "numerics/int4.hpp"
#include "tests/kernels/gfx1201/emulated_gemm.hpp"
#include "tests/kernels/gfx1201/emulator_control.hpp"

namespace radiance::gfx1201 {
namespace {

using test::Problem;

// Activations without subnormals, which such a device takes for zeros.
Problem make_problem(int64_t m) {
  std::mt19937 rng(static_cast<unsigned>(m));
  Problem p;
  p.shape = {RADIANCE_AUTOROUND_INT4, 150, 512, 128};
  p.m = m;
  std::vector<uint32_t> codes(static_cast<size_t>(p.shape.k / 8 * p.shape.n));
  for (uint32_t& word : codes) word = static_cast<uint32_t>(rng());
  std::vector<uint16_t> scales;
  for (int64_t i = 0; i < p.shape.groups() * p.shape.n; ++i) {
    scales.push_back(test::random_f16(rng, 20));
  }
  for (int64_t n = 0; n < p.shape.n; ++n) {
    for (int64_t k = 0; k < p.shape.k; ++k) {
      const uint32_t word = codes[static_cast<size_t>(k / 8 * p.shape.n + n)];
      const float scale = f16_to_f32(scales[static_cast<size_t>(k / 128 * p.shape.n + n)]);
      p.weights.push_back(int4_value(int4_code(word, static_cast<int>(k % 8))) *
                          static_cast<double>(scale));
    }
  }
  p.codes.resize(codes.size() * 4);
  std::memcpy(p.codes.data(), codes.data(), p.codes.size());
  p.scales.resize(scales.size() * 2);
  std::memcpy(p.scales.data(), scales.data(), p.scales.size());
  test::fill_rows(rng, p);
  for (uint8_t& byte : p.xq) {
    if ((byte & 0x78) == 0) byte |= 0x08;
  }
  return p;
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
  Problem p;
  p.shape = {RADIANCE_MXFP4, 40, 256, 32};
  p.m = 7;
  for (int64_t i = 0; i < p.shape.n * p.shape.k / 2; ++i) {
    p.codes.push_back(static_cast<uint8_t>(rng()));
  }
  // 11 binades fold without subnormals, 14 only with them.
  for (const int reach : {11, 14}) {
    p.scales.clear();
    p.weights.clear();
    p.xq.clear();
    p.bias.clear();
    p.x_scales.clear();
    for (int64_t i = 0; i < p.shape.n * p.shape.groups(); ++i) {
      p.scales.push_back(static_cast<uint8_t>(110 + (i % 2) * reach));
    }
    for (int64_t i = 0; i < p.shape.n * p.shape.k; ++i) {
      const uint8_t code = p.codes[static_cast<size_t>(i / 2)] >> (i % 2 * 4) & 15;
      const int s = p.scales[static_cast<size_t>(i / 32)];
      p.weights.push_back(std::ldexp(e2m1_to_f32(code), s - 127));
    }
    test::fill_rows(rng, p);
    for (uint8_t& byte : p.xq) {
      if ((byte & 0x78) == 0) byte |= 0x08;
    }
    test::check_configs(p);
    if (HasFatalFailure()) return;
  }
}

}  // namespace
}  // namespace radiance::gfx1201
