// WMMA, SWMMAC and fp8 conversions as instructions: operands and modifiers of the text reach the
// arithmetic, which matrix_math_test and fp8_conversion_test check.
#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <string>

#include "emulator/fp8_conversion.hpp"
#include "emulator/matrix_math.hpp"
#include "numerics/f16.hpp"
#include "tests/emulator/lane_program.hpp"

namespace radiance::emulator::testing {
namespace {

std::vector<Lanes> random_inputs(unsigned count, uint32_t mask = ~0u) {
  std::mt19937 rng(23);
  std::vector<Lanes> out(count);
  for (Lanes& l : out) {
    for (uint32_t& v : l.v) v = static_cast<uint32_t>(rng()) & mask;
  }
  return out;
}

const RegisterRow* rows(const std::vector<Lanes>& v, size_t first) { return &v[first].v; }

std::vector<Lanes> model(const char* name, const std::vector<Lanes>& in, size_t a, size_t b,
                         const std::vector<Lanes>& c, size_t index, const MatrixModifiers& m) {
  const MatrixInstruction& instruction = *find_matrix_instruction(name);
  std::vector<Lanes> d(instruction.c_registers);
  instruction.run(
      {&d[0].v, rows(in, a), rows(in, b), rows(c, 0), index ? rows(in, index) : nullptr}, m);
  return d;
}

void expect_equal(const LaneResults& r, const std::vector<Lanes>& due, const char* what) {
  ASSERT_EQ(r.error, "") << what;
  for (size_t k = 0; k < due.size(); ++k) {
    for (int i = 0; i < kLanes; ++i)
      EXPECT_EQ(r.v[k][i], due[k][i]) << what << " " << k << "," << i;
  }
}

LaneProgram program(const std::string& body, const std::vector<Lanes>& in, unsigned results) {
  LaneProgram p;
  p.inputs = in;
  p.results = results;
  p.body = body;
  p.strict = true;
  return p;
}

TEST(Matrix, AccumulatesInRegisters) {
  const auto in = random_inputs(12, 0x77777777u);
  const std::vector<Lanes> c(in.begin() + 4, in.begin() + 12);
  const auto r =
      run(program("v_wmma_f32_16x16x16_fp8_bf8 v[40:47], v[8:9], v[10:11], v[12:19] "
                  "neg_lo:[0,0,1] neg_hi:[0,0,1]\n",
                  in, 8));
  MatrixModifiers m;
  m.neg_lo = m.neg_hi = 4;
  expect_equal(r, model("v_wmma_f32_16x16x16_fp8_bf8", in, 0, 2, c, 0, m), "fp8_bf8");
}

// Subnormal bytes are zeros then, of either format, on either side, and no others.
TEST(Matrix, FlushesSubnormalBytesWhereAsked) {
  const auto in = random_inputs(4, 0x9f9f9f9fu);  // none so large that the small drown in it
  const std::vector<Lanes> zero(8, make_lanes([](int) { return 0; }));
  for (const bool bf8_left : {false, true}) {
    const std::string name =
        std::string("v_wmma_f32_16x16x16_") + (bf8_left ? "bf8_fp8" : "fp8_bf8");
    auto cleared = in;
    for (size_t r = 0; r < 4; ++r) {
      const uint32_t exponent = (r < 2) == bf8_left ? 0x7c : 0x78;
      for (int i = 0; i < kLanes; ++i) {
        for (int b = 0; b < 32; b += 8) {
          if ((in[r][i] >> b & exponent) == 0) cleared[r][i] &= ~(0x7fu << b);
        }
      }
    }
    LaneProgram p = program(name + " v[40:47], v[8:9], v[10:11], 0\n", in, 8);
    const auto kept = model(name.c_str(), in, 0, 2, zero, 0, {});
    const auto flushed = model(name.c_str(), cleared, 0, 2, zero, 0, {});
    expect_equal(run(p), kept, "kept");
    p.flush_fp8 = true;
    expect_equal(run(p), flushed, "flushed");
    EXPECT_NE(kept[0][0], flushed[0][0]);
  }
}

TEST(Matrix, TakesAConstantAccumulator) {
  const auto in = random_inputs(8, 0x3fff3fffu);
  const std::vector<Lanes> ones(8, make_lanes([](int) { return 0x3f800000; }));
  expect_equal(run(program("v_wmma_f32_16x16x16_f16 v[40:47], v[8:11], v[12:15], 1.0 "
                           "neg_lo:[1,0,0] neg_hi:[0,1,0]\n",
                           in, 8)),
               model("v_wmma_f32_16x16x16_f16", in, 0, 4, ones, 0, {1, 2, false, 0}), "f16");
  const std::vector<Lanes> halves(4, make_lanes([](int) { return 0x40004000; }));
  expect_equal(run(program("v_wmma_f16_16x16x16_f16 v[40:43], v[8:11], v[12:15], 2.0\n", in, 4)),
               model("v_wmma_f16_16x16x16_f16", in, 0, 4, halves, 0, {}), "f16 of f16");
  const std::vector<Lanes> sevens(8, make_lanes([](int) { return 7; }));
  expect_equal(
      run(program("v_wmma_i32_16x16x16_iu8 v[40:47], v[8:9], v[10:11], 7 neg_lo:[1,0,0]\n", in, 8)),
      model("v_wmma_i32_16x16x16_iu8", in, 0, 2, sevens, 0, {1, 0, false, 0}), "iu8");
}

TEST(Matrix, ClampsIntegers) {
  const auto in = random_inputs(12);
  std::vector<Lanes> c(8, make_lanes([](int) { return 0x7fffffff; }));
  std::string body;
  for (int k = 0; k < 8; ++k) body += "v_bfrev_b32 v" + std::to_string(20 + k) + ", -2\n";
  body += "v_wmma_i32_16x16x32_iu4 v[40:47], v[8:9], v[10:11], v[20:27] clamp\n";
  const auto due = model("v_wmma_i32_16x16x32_iu4", in, 0, 2, c, 0, {0, 0, true, 0});
  EXPECT_EQ(due[0][0], 0x7fffffffu);
  expect_equal(run(program(body, in, 8)), due, "iu4");
}

TEST(Matrix, SparseReadsItsIndexAndDestination) {
  auto in = random_inputs(8, 0x77777777u);
  in[7] = make_lanes([](int i) { return i % 2 ? 0x4444eeee : 0x9c4e8d14; });
  const std::vector<Lanes> c(8, make_lanes([](int) { return 0x5eed; }));
  for (int key : {0, 1}) {
    const auto r = run(program("v_swmmac_f32_16x16x32_fp8_fp8 v[40:47], v[8:9], v[10:13], v15" +
                                   std::string(key ? " index_key:1\n" : "\n"),
                               in, 8));
    expect_equal(
        r,
        model("v_swmmac_f32_16x16x32_fp8_fp8", in, 0, 2, c, 7, {0, 0, false, static_cast<u8>(key)}),
        "swmmac");
  }
}

TEST(Matrix, IgnoresExec) {
  const auto in = random_inputs(4, 0x77777777u);
  const std::vector<Lanes> zero(8, make_lanes([](int) { return 0; }));
  expect_equal(run(program("s_mov_b32 exec_lo, 0xff\n"
                           "v_wmma_f32_16x16x16_fp8_fp8 v[40:47], v[8:9], v[10:11], 0\n",
                           in, 8)),
               model("v_wmma_f32_16x16x16_fp8_fp8", in, 0, 2, zero, 0, {}), "exec");
}

TEST(Fp8, Widens) {
  const auto in = random_inputs(1);
  const auto r =
      run(program("v_cvt_f32_fp8 v40, v8\nv_cvt_f32_fp8 v41, v8 byte_sel:2\n"
                  "v_cvt_f32_bf8 v42, v8 byte_sel:3\nv_cvt_pk_f32_fp8 v[44:45], v8\n"
                  "v_cvt_pk_f32_bf8 v[46:47], v8 op_sel:[1,0]\n",
                  in, 8));
  ASSERT_EQ(r.error, "");
  const auto expect = [](uint32_t got, float due) {
    if (std::isnan(due)) {
      EXPECT_TRUE(std::isnan(float_from_bits(got)));
    } else {
      EXPECT_EQ(float_from_bits(got), due);
    }
  };
  for (int i = 0; i < kLanes; ++i) {
    const auto byte = [&](int b) { return static_cast<u8>(in[0][i] >> (8 * b)); };
    expect(r.v[0][i], e4m3_to_f32(byte(0)));
    expect(r.v[1][i], e4m3_to_f32(byte(2)));
    expect(r.v[2][i], e5m2_to_f32(byte(3)));
    expect(r.v[4][i], e4m3_to_f32(byte(0)));
    expect(r.v[5][i], e4m3_to_f32(byte(1)));
    expect(r.v[6][i], e5m2_to_f32(byte(2)));
    expect(r.v[7][i], e5m2_to_f32(byte(3)));
  }
}

TEST(Fp8, NarrowsIntoAHalfOrAByte) {
  std::mt19937 rng(29);
  std::vector<Lanes> in(3);
  for (int i = 0; i < kLanes; ++i) {
    in[0][i] = float_bits(std::ldexp(static_cast<float>(rng() % 4096) - 2048, -3 + i / 4 - 4));
    in[1][i] = float_bits(std::ldexp(static_cast<float>(rng() % 4096) - 2048, -10));
    in[2][i] = static_cast<uint32_t>(rng());
  }
  const auto kernel = [](const char* mode) {
    return std::string(mode) +
           "v_mov_b32 v40, 0x12345678\nv_mov_b32 v41, v40\nv_mov_b32 v42, v40\nv_mov_b32 v43, v40\n"
           "v_cvt_pk_fp8_f32 v40, v8, -v9\nv_cvt_pk_bf8_f32 v41, |v8|, v9 op_sel:[0,0,1]\n"
           "v_cvt_sr_fp8_f32 v42, v8, v10 byte_sel:2\nv_cvt_sr_bf8_f32 v43, v8, v10\n";
  };
  for (bool clamp : {false, true}) {
    const auto r = run(
        program(kernel(clamp ? "s_setreg_imm32_b32 hwreg(HW_REG_MODE, 23, 1), 1\n" : ""), in, 4));
    ASSERT_EQ(r.error, "");
    for (int i = 0; i < kLanes; ++i) {
      const float a = float_from_bits(in[0][i]), b = float_from_bits(in[1][i]);
      const auto pair = [](u8 low, u8 high) { return static_cast<uint32_t>(low | high << 8); };
      EXPECT_EQ(r.v[0][i], 0x12340000u | pair(f32_to_fp8(a, clamp), f32_to_fp8(-b, clamp)));
      EXPECT_EQ(r.v[1][i], 0x5678u | pair(f32_to_bf8(std::fabs(a), clamp), f32_to_bf8(b, clamp))
                                         << 16);
      EXPECT_EQ(r.v[2][i],
                0x12005678u | static_cast<uint32_t>(f32_to_fp8_stochastic(a, in[2][i], clamp))
                                  << 16);
      EXPECT_EQ(r.v[3][i], 0x12345600u | f32_to_bf8_stochastic(a, in[2][i], clamp));
    }
  }
}

TEST(Fp8, Dot4) {
  auto in = random_inputs(3, 0x3b3b3b3bu);
  in[2] = make_lanes([](int i) { return float_bits(static_cast<float>(i)); });
  const auto r =
      run(program("v_dot4_f32_fp8_bf8 v40, v8, v9, v10\n"
                  "v_dot4_f32_bf8_bf8 v41, v8, v9, v10 neg_lo:[0,0,1]\n",
                  in, 2));
  ASSERT_EQ(r.error, "");
  for (int i = 0; i < kLanes; ++i) {
    double mixed = i, both = -i;
    for (int b = 0; b < 32; b += 8) {
      const auto x = static_cast<u8>(in[0][i] >> b), y = static_cast<u8>(in[1][i] >> b);
      mixed += static_cast<double>(e4m3_to_f32(x)) * e5m2_to_f32(y);
      both += static_cast<double>(e5m2_to_f32(x)) * e5m2_to_f32(y);
    }
    EXPECT_NEAR(float_from_bits(r.v[0][i]), mixed, 1e-5 * (1 + std::fabs(mixed)));
    EXPECT_NEAR(float_from_bits(r.v[1][i]), both, 1e-5 * (1 + std::fabs(both)));
  }
}

}  // namespace
}  // namespace radiance::emulator::testing
