// Cases on a real device whose weight is not the one that the reference was computed from: what a
// wrong kernel or a wrong packing would compute must fail.
#include "lab/gate_case.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

namespace radiance::lab {
namespace {

using testing::HasSubstr;

class GateCase : public testing::Test {
 protected:
  static Problem make_problem(int64_t n = 40, int64_t k = 328, int64_t group = 128) {
    Random random(31);
    HostWeight weight = random_int4_weight(random, n, k, group);
    return {random, std::move(weight), random_rows(random, RADIANCE_BF16, 17, k)};
  }
  static Variation variation(radiance_dtype out = RADIANCE_BF16) {
    Variation v;
    v.suite = "test";
    v.name = "planted";
    v.m = 17;
    v.out_dtype = out;
    v.bias = true;
    return v;
  }
  CaseResult run_with(const HostWeight& packed, const Problem& problem) {
    return run_case(DeviceWeight(engine_, packed), problem, variation());
  }

  Engine engine_{"cpu:portable"};
  Problem problem_ = make_problem();
};

TEST_F(GateCase, TheRightWeightPasses) {
  const CaseResult result = run_with(problem_.weight, problem_);
  EXPECT_EQ(result.status, Status::kPassed) << result.reason;
  EXPECT_GT(result.rel, 1e-4);
  EXPECT_LT(result.rel, 4e-3);
  EXPECT_EQ(result.n, 40);
  EXPECT_EQ(result.group, 128);
}

TEST_F(GateCase, ASignFlipOfOneScaleFails) {
  HostWeight wrong = problem_.weight;
  wrong.scales[2 * (1 * 40 + 7) + 1] ^= 0x80;
  const CaseResult result = run_with(wrong, problem_);
  EXPECT_EQ(result.status, Status::kFailed);
  EXPECT_THAT(result.reason, HasSubstr("][7]"));
}

TEST_F(GateCase, ADroppedShortGroupFails) {
  HostWeight wrong = problem_.weight;  // K = 328: the last group has 72
  for (int64_t n = 0; n < 40; ++n) wrong.set_scale(2, n, 0);
  EXPECT_EQ(run_with(wrong, problem_).status, Status::kFailed);
}

TEST_F(GateCase, ASwappedPairOfFeaturesFails) {
  HostWeight wrong = problem_.weight;
  for (int64_t k = 0; k < 328; ++k) {
    wrong.set_code(3, k, problem_.weight.code(4, k));
    wrong.set_code(4, k, problem_.weight.code(3, k));
  }
  EXPECT_EQ(run_with(wrong, problem_).status, Status::kFailed);
}

TEST_F(GateCase, ASwappedPairOfNibblesFails) {
  HostWeight wrong = problem_.weight;
  for (uint8_t& byte : wrong.codes) byte = static_cast<uint8_t>(byte << 4 | byte >> 4);
  EXPECT_EQ(run_with(wrong, problem_).status, Status::kFailed);
}

TEST_F(GateCase, OneWrongCodeFailsTheExactCase) {
  const Problem problem = [] {
    Random random(32);
    HostWeight weight = random_int4_weight(random, 24, 64, 32);
    return Problem(random, std::move(weight), one_hot_rows(RADIANCE_BF16, 64, 64, 0));
  }();
  Variation exact = variation(RADIANCE_F32);
  exact.m = 64;
  exact.bias = false;
  exact.exact = true;
  const CaseResult right = run_case(DeviceWeight(engine_, problem.weight), problem, exact);
  EXPECT_EQ(right.status, Status::kPassed) << right.reason;
  HostWeight wrong = problem.weight;
  wrong.set_code(11, 50, problem.weight.code(11, 50) ^ 1);
  const CaseResult result = run_case(DeviceWeight(engine_, wrong), problem, exact);
  EXPECT_EQ(result.status, Status::kFailed);
  EXPECT_THAT(result.reason, HasSubstr("y[50][11]"));
}

TEST_F(GateCase, OtherQuantizedRowsFail) {
  Problem wrong = make_problem();
  wrong.quantized.xq[5] ^= 1;
  const CaseResult bytes = run_with(wrong.weight, wrong);
  EXPECT_EQ(bytes.status, Status::kFailed);
  EXPECT_THAT(bytes.reason, HasSubstr("xq[0][5]"));

  wrong = make_problem();
  wrong.quantized.row_sums[4] += 1;
  EXPECT_THAT(run_with(wrong.weight, wrong).reason, HasSubstr("sum of group 1"));

  wrong = make_problem();
  wrong.quantized.scales[2] *= 1.0000002f;
  EXPECT_THAT(run_with(wrong.weight, wrong).reason, HasSubstr("row 2's scale"));
}

TEST_F(GateCase, ARefusedCallIsAFailureWithItsReason) {
  Variation refused = variation();
  refused.ldy = 3;  // below N
  const CaseResult result = run_case(DeviceWeight(engine_, problem_.weight), problem_, refused);
  EXPECT_EQ(result.status, Status::kFailed);
  EXPECT_FALSE(result.reason.empty());
}

// On every instruction set that this machine has.
TEST_F(GateCase, NanRowsTouchNoOther) {
  for (const char* name : {"cpu:portable", "cpu:avx2", "cpu:avx512", "cpu:amx"}) {
    std::unique_ptr<Engine> engine;
    try {
      engine = std::make_unique<Engine>(name);
    } catch (const Error&) {
      continue;
    }
    Random random(33);
    HostWeight weight = random_int4_weight(random, 70, 264, 64);
    HostRows rows = random_rows(random, RADIANCE_F16, 33, 264);
    rows.set(0, 263, std::numeric_limits<float>::quiet_NaN());
    rows.set(16, 0, std::numeric_limits<float>::infinity());
    rows.set(32, 100, -std::numeric_limits<float>::infinity());
    const Problem problem(random, std::move(weight), std::move(rows));
    const DeviceWeight device_weight(*engine, problem.weight);
    for (const bool forward : {false, true}) {
      for (const char* prefix : {"decode", "prefill"}) {
        Variation v = variation();
        v.m = 33;
        v.forward = forward;
        v.config_prefix = prefix;
        const CaseResult result = run_case(device_weight, problem, v);
        EXPECT_EQ(result.status, Status::kPassed) << name << " " << prefix << ": " << result.reason;
      }
    }
  }
}

TEST_F(GateCase, APrefixWithoutConfigurationFails) {
  Variation v = variation();
  v.config_prefix = "split9";
  const CaseResult result = run_case(DeviceWeight(engine_, problem_.weight), problem_, v);
  EXPECT_EQ(result.status, Status::kFailed);
  EXPECT_THAT(result.reason, HasSubstr("no legal configuration begins with split9"));
}

TEST_F(GateCase, WhereItMayFallBackThatIsNoted) {
  Variation v = variation();
  v.config_prefix = "split9";
  v.may_fall_back = true;
  const CaseResult result = run_case(DeviceWeight(engine_, problem_.weight), problem_, v);
  EXPECT_EQ(result.status, Status::kPassed) << result.reason;
  EXPECT_EQ(result.config, engine_.backend().plan(problem_.weight.shape, 17).config);
  EXPECT_THAT(result.note, HasSubstr("split9"));
}

TEST_F(GateCase, ConfigurationsAreFoundByPrefix) {
  const WeightShape shape = problem_.weight.shape;
  EXPECT_THAT(*find_config(engine_.backend(), shape, 4, "decode"), HasSubstr("decode"));
  EXPECT_FALSE(find_config(engine_.backend(), shape, 4, "no such thing"));
}

}  // namespace
}  // namespace radiance::lab
