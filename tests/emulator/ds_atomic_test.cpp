#include <gtest/gtest.h>

#include <cstring>
#include <string>

#include "emulator/atomic_operations.hpp"
#include "tests/emulator/lane_program.hpp"

namespace radiance::emulator::testing {
namespace {

using namespace atomics;

// Lane l owns 16 bytes of LDS at 16 * l that hold v[8:11]; data in v[12:13], the second operand in
// v[14:15].
LaneProgram program(const std::string& body, unsigned results) {
  LaneProgram p;
  p.results = results;
  p.strict = true;
  for (int r = 0; r < 8; ++r) {
    p.inputs.push_back(make_lanes([&](int i) {
      // Some lanes' values are equal, so that compare-exchange succeeds there.
      const auto step = static_cast<uint32_t>((i + 1) * (r + 1));
      return i % 3 == 0 ? 0x40490fdbu : 0x3f800000u + 0x01234567u * step;
    }));
  }
  p.body = "v_lshlrev_b32 v2, 4, v0\nds_store_b128 v2, v[8:11]\n" + body;
  return p;
}

struct Case32 {
  const char* name;  // without and with result: ds_add_u32, ds_add_rtn_u32
  const char* returning;
  uint32_t (*apply)(uint32_t, uint32_t, uint32_t);
  int operands;
};

TEST(DsAtomic, DwordOperations) {
  const Case32 cases[] = {
      {"ds_add_u32", "ds_add_rtn_u32", Add::apply<uint32_t>, 1},
      {"ds_sub_u32", "ds_sub_rtn_u32", Subtract::apply<uint32_t>, 1},
      {"ds_rsub_u32", "ds_rsub_rtn_u32", ReverseSubtract::apply<uint32_t>, 1},
      {"ds_inc_u32", "ds_inc_rtn_u32", Increment::apply<uint32_t>, 1},
      {"ds_dec_u32", "ds_dec_rtn_u32", Decrement::apply<uint32_t>, 1},
      {"ds_min_i32", "ds_min_rtn_i32", MinSigned::apply<uint32_t>, 1},
      {"ds_max_i32", "ds_max_rtn_i32", MaxSigned::apply<uint32_t>, 1},
      {"ds_min_u32", "ds_min_rtn_u32", MinUnsigned::apply<uint32_t>, 1},
      {"ds_max_u32", "ds_max_rtn_u32", MaxUnsigned::apply<uint32_t>, 1},
      {"ds_and_b32", "ds_and_rtn_b32", And::apply<uint32_t>, 1},
      {"ds_or_b32", "ds_or_rtn_b32", Or::apply<uint32_t>, 1},
      {"ds_xor_b32", "ds_xor_rtn_b32", Xor::apply<uint32_t>, 1},
      {"ds_mskor_b32", "ds_mskor_rtn_b32", MaskedOr::apply<uint32_t>, 2},
      {"ds_cmpstore_b32", "ds_cmpstore_rtn_b32", CompareExchange::apply<uint32_t>, 2},
      {"ds_min_num_f32", "ds_min_num_rtn_f32", MinNumber::apply<uint32_t>, 1},
      {"ds_max_num_f32", "ds_max_num_rtn_f32", MaxNumber::apply<uint32_t>, 1},
      {"ds_add_f32", "ds_add_rtn_f32", AddFloat::apply<uint32_t>, 1},
      {"ds_sub_clamp_u32", "ds_sub_clamp_rtn_u32", SubtractClamped::apply<uint32_t>, 1},
      {"ds_cond_sub_u32", "ds_cond_sub_rtn_u32", SubtractIfGreaterEqual::apply<uint32_t>, 1},
      {"ds_pk_add_f16", "ds_pk_add_rtn_f16", AddPackedF16::apply, 1},
      {"ds_pk_add_bf16", "ds_pk_add_rtn_bf16", AddPackedBf16::apply, 1},
  };
  for (const Case32& c : cases) {
    const std::string operands = c.operands == 2 ? "v2, v12, v14" : "v2, v12";
    const auto p = program(std::string(c.name) + " " + operands + "\n" + c.returning + " v40, " +
                               operands + " offset:4\nds_load_b64 v[41:42], v2\n",
                           3);
    const auto r = run(p);
    ASSERT_EQ(r.error, "") << c.name;
    for (int i = 0; i < kLanes; ++i) {
      const uint32_t data = p.inputs[4][i], second = p.inputs[6][i];
      EXPECT_EQ(r.v[0][i], p.inputs[1][i]) << c.returning;
      EXPECT_EQ(r.v[1][i], c.apply(p.inputs[0][i], data, second)) << c.name << " lane " << i;
      EXPECT_EQ(r.v[2][i], c.apply(p.inputs[1][i], data, second)) << c.returning << " lane " << i;
    }
  }
}

uint64_t pair(const LaneProgram& p, size_t r, int i) {
  return p.inputs[r][i] | static_cast<uint64_t>(p.inputs[r + 1][i]) << 32;
}

TEST(DsAtomic, QwordOperations) {
  struct Case64 {
    const char* name;
    const char* returning;
    uint64_t (*apply)(uint64_t, uint64_t, uint64_t);
    int operands;
  };
  const Case64 cases[] = {
      {"ds_add_u64", "ds_add_rtn_u64", Add::apply<uint64_t>, 1},
      {"ds_min_i64", "ds_min_rtn_i64", MinSigned::apply<uint64_t>, 1},
      {"ds_max_u64", "ds_max_rtn_u64", MaxUnsigned::apply<uint64_t>, 1},
      {"ds_cmpstore_b64", "ds_cmpstore_rtn_b64", CompareExchange::apply<uint64_t>, 2},
      {"ds_max_num_f64", "ds_max_num_rtn_f64", MaxNumber::apply<uint64_t>, 1},
      {"ds_dec_u64", "ds_dec_rtn_u64", Decrement::apply<uint64_t>, 1},
  };
  for (const Case64& c : cases) {
    const std::string operands = c.operands == 2 ? "v2, v[12:13], v[14:15]" : "v2, v[12:13]";
    const auto p = program(std::string(c.name) + " " + operands + "\n" + c.returning +
                               " v[40:41], " + operands + " offset:8\nds_load_b128 v[42:45], v2\n",
                           6);
    const auto r = run(p);
    ASSERT_EQ(r.error, "") << c.name;
    for (int i = 0; i < kLanes; ++i) {
      const auto result = [&](size_t k) {
        return r.v[k][i] | static_cast<uint64_t>(r.v[k + 1][i]) << 32;
      };
      EXPECT_EQ(result(0), pair(p, 2, i)) << c.returning;
      EXPECT_EQ(result(2), c.apply(pair(p, 0, i), pair(p, 4, i), pair(p, 6, i))) << c.name;
      EXPECT_EQ(result(4), c.apply(pair(p, 2, i), pair(p, 4, i), pair(p, 6, i))) << c.returning;
    }
  }
}

TEST(DsAtomic, Exchanges) {
  const auto p = program(
      "ds_storexchg_rtn_b32 v40, v2, v12\n"
      "ds_storexchg_2addr_rtn_b32 v[41:42], v2, v13, v14 offset0:2 offset1:3\n"
      "ds_load_b128 v[43:46], v2\n",
      7);
  const auto r = run(p);
  ASSERT_EQ(r.error, "");
  for (int i = 0; i < kLanes; ++i) {
    EXPECT_EQ(r.v[0][i], p.inputs[0][i]);
    EXPECT_EQ(r.v[1][i], p.inputs[2][i]);
    EXPECT_EQ(r.v[2][i], p.inputs[3][i]);
    EXPECT_EQ(r.v[3][i], p.inputs[4][i]);
    EXPECT_EQ(r.v[4][i], p.inputs[1][i]);
    EXPECT_EQ(r.v[5][i], p.inputs[5][i]);
    EXPECT_EQ(r.v[6][i], p.inputs[6][i]);
  }
}

TEST(DsAtomic, LanesOfOneAddressAddUp) {
  const auto p = program(
      "v_mov_b32 v3, 64\nv_mov_b32 v4, 1\nds_load_b32 v42, v3\n"
      "ds_add_rtn_u32 v40, v3, v4\nds_load_b32 v41, v3\n",
      3);
  const auto r = run(p);
  ASSERT_EQ(r.error, "");
  for (int i = 0; i < kLanes; ++i) {
    EXPECT_EQ(r.v[0][i], r.v[2][0] + static_cast<uint32_t>(i));
    EXPECT_EQ(r.v[1][i], r.v[2][0] + 32);
  }
}

TEST(DsAtomic, AppendAndConsumeCountLanes) {
  const auto p = program(
      "s_mov_b32 m0, 32\nds_load_b32 v43, v2\ns_mov_b32 exec_lo, 0xff00\n"
      "ds_append v40 offset:16\nds_consume v41 offset:16\n"
      "ds_append v42 offset:16\n",
      4);
  const auto r = run(p);
  ASSERT_EQ(r.error, "");
  const uint32_t before = p.inputs[0][3];  // at 48
  EXPECT_EQ(r.v[0][8], before);
  EXPECT_EQ(r.v[1][8], before + 8);
  EXPECT_EQ(r.v[2][15], before);
  EXPECT_EQ(r.v[0][0], 0x5eedu);
}

}  // namespace
}  // namespace radiance::emulator::testing
