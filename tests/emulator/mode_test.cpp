// What s_setreg does to MODE, and MODE to arithmetic: rounding and denormals of f32, and of f16 and
// f64 apart from it.
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <string>

#include "tests/emulator/lane_program.hpp"

namespace radiance::emulator::testing {
namespace {

constexpr uint32_t kTinyF32 = 0x00000003;   // subnormal
constexpr uint32_t kLeastF32 = 0x00800000;  // the smallest normal
constexpr uint32_t kTinyF16 = 0x0003;

enum Rounding { kNearest, kUp, kDown, kToZero };
constexpr Rounding kRoundings[] = {kNearest, kUp, kDown, kToZero};

uint32_t bits(float value) { return std::bit_cast<uint32_t>(value); }

Lanes all(uint32_t value) {
  return make_lanes([value](int) { return value; });
}

// Runs `body` on v8, v9 with MODE's low byte at `mode`; the first lanes of v40, v41.
std::vector<uint32_t> run_in(uint32_t mode, const std::string& body, std::vector<Lanes> inputs) {
  LaneProgram program;
  program.inputs = std::move(inputs);
  program.results = 2;
  program.strict = true;
  program.body =
      "s_setreg_imm32_b32 hwreg(HW_REG_MODE, 0, 8), " + std::to_string(mode) + "\n" + body;
  const LaneResults results = run(program);
  EXPECT_EQ(results.error, "") << body;
  return {results.v[0][0], results.v[1][0]};
}

constexpr uint32_t kKeepAll = 0xf0;

// 1 + 2^-25 and its negative lie between two f32.
TEST(Mode, RoundsF32) {
  constexpr uint32_t kOne = 0x3f800000, kNext = 0x3f800001;
  constexpr uint32_t kSign = 0x80000000;
  for (const Rounding rounding : kRoundings) {
    const bool up = rounding == kUp, down = rounding == kDown;
    for (const char* add : {"v_add_f32 v40, v8, v9\nv_sub_f32 v41, -v8, v9\n",
                            "v_fma_f32 v40, v8, 1.0, v9\nv_fma_f32 v41, -v8, 1.0, -v9\n"}) {
      const auto got = run_in(kKeepAll | rounding, add, {all(kOne), all(bits(0x1p-25f))});
      EXPECT_EQ(got[0], up ? kNext : kOne) << add << rounding;
      EXPECT_EQ(got[1], kSign | (down ? kNext : kOne)) << add << rounding;
    }
    // The host's rounding is what it was in the next instruction, which does not round.
    const auto exact = run_in(kKeepAll | rounding, "v_mul_f32 v40, v8, v9\nv_mov_b32 v41, v40\n",
                              {all(bits(1.5f)), all(bits(3.0f))});
    EXPECT_EQ(exact[0], bits(4.5f));
  }
}

TEST(Mode, RoundsScalarF32) {
  for (const Rounding rounding : kRoundings) {
    const auto got = run_in(kKeepAll | rounding,
                            "s_mov_b32 s20, 0x33000000\ns_add_f32 s21, 1.0, s20\n"
                            "v_mov_b32 v40, s21\n",
                            {});
    EXPECT_EQ(got[0], rounding == kUp ? 0x3f800001U : 0x3f800000U) << rounding;
  }
}

// The other field: bits 3:2 are for f16 and f64, and leave f32 alone.
TEST(Mode, RoundsF16AndF64Apart) {
  for (const Rounding rounding : kRoundings) {
    const uint32_t mode = kKeepAll | static_cast<uint32_t>(rounding) << 2;
    const bool up = rounding == kUp;
    const auto f16 = run_in(mode, "v_add_f16 v40, v8, v9\nv_cvt_f16_f32 v41, v10\n",
                            {all(0x3c00), all(0x0c00), all(bits(1.0f + 0x1p-12f))});
    EXPECT_EQ(f16[0] & 0xffff, up ? 0x3c01U : 0x3c00U) << rounding;
    EXPECT_EQ(f16[1] & 0xffff, up ? 0x3c01U : 0x3c00U) << rounding;
    // 1 + 2^-54
    const auto f64 = run_in(mode, "v_add_f64 v[40:41], v[8:9], v[10:11]\n",
                            {all(0), all(0x3ff00000), all(0), all(0x3c900000)});
    EXPECT_EQ(f64[0], up ? 1U : 0U) << rounding;
    EXPECT_EQ(f64[1], 0x3ff00000U) << rounding;
    const auto f32 =
        run_in(mode, "v_add_f32 v40, v8, v9\n", {all(0x3f800000), all(bits(0x1p-25f))});
    EXPECT_EQ(f32[0], 0x3f800000U) << rounding;
  }
}

// Bit 4: inputs kept, bit 5: outputs kept.
TEST(Mode, FlushesF32Denormals) {
  const std::vector<Lanes> in = {all(kTinyF32), all(kLeastF32)};
  // An input: tiny * 2^120 is no denormal. An output: the smallest normal by two.
  const std::string body = "v_mul_f32 v40, 0x7b800000, v8\nv_mul_f32 v41, 0.5, v9\n";
  const uint32_t scaled = bits(std::ldexp(3.0f, 120 - 149)), half = kLeastF32 >> 1;
  EXPECT_EQ(run_in(0xf0, body, in), (std::vector<uint32_t>{scaled, half}));
  EXPECT_EQ(run_in(0xd0, body, in), (std::vector<uint32_t>{scaled, 0}));
  EXPECT_EQ(run_in(0xe0, body, in), (std::vector<uint32_t>{0, half}));
  EXPECT_EQ(run_in(0xc0, body, in), (std::vector<uint32_t>{0, 0}));
  // A flushed negative keeps its sign.
  EXPECT_EQ(run_in(0xc0, "v_mul_f32 v40, -0.5, v9\n", in)[0], 0x80000000U);
}

// Bits 6 and 7 for f16 and f64.
TEST(Mode, FlushesF16AndF64DenormalsApart) {
  const std::vector<Lanes> in = {all(kTinyF16), all(0x0400)};
  const std::string body = "v_mul_f16 v40, 0x6400, v8\nv_mul_f16 v41, 0.5, v9\n";  // by 1024
  const auto halves = [&](uint32_t mode) {
    auto got = run_in(mode, body, in);
    for (uint32_t& value : got) value &= 0xffff;
    return got;
  };
  const uint32_t scaled = 0x0a00;  // 3 * 2^-14
  EXPECT_EQ(halves(0xf0), (std::vector<uint32_t>{scaled, 0x0200}));
  EXPECT_EQ(halves(0x70), (std::vector<uint32_t>{scaled, 0}));
  EXPECT_EQ(halves(0xb0), (std::vector<uint32_t>{0, 0x0200}));
  EXPECT_EQ(halves(0x30), (std::vector<uint32_t>{0, 0}));
  const std::vector<Lanes> least = {all(0), all(0x00100000)};
  const std::string halve = "v_mul_f64 v[40:41], 0.5, v[8:9]\n";
  EXPECT_EQ(run_in(0xf0, halve, least)[1], 0x00080000U);
  EXPECT_EQ(run_in(0x30, halve, least)[1], 0U);
  EXPECT_EQ(run_in(0xc0, halve, least)[1], 0x00080000U) << "f32's bits leave f64 alone";
}

// RDNA4's ISA, 7.2.3.1: a scale applies whatever MODE says, flushes denormals and negative zeros.
TEST(Mode, ScalesOutputsWhateverItSays) {
  for (const uint32_t mode : {0xf0U, 0xc0U, 0x30U, 0x00U}) {
    EXPECT_EQ(run_in(mode, "v_add_f32_e64 v40, v8, v8 mul:2\n", {all(bits(1.25f))})[0], bits(5.0f));
    EXPECT_EQ(run_in(mode, "v_add_f32_e64 v40, v8, v8 div:2\n", {all(bits(1.25f))})[0],
              bits(1.25f));
    EXPECT_EQ(run_in(mode, "v_mul_f32_e64 v40, v8, 1.0 div:2\n", {all(kLeastF32)})[0], 0U);
    EXPECT_EQ(run_in(mode, "v_mul_f32_e64 v40, v8, 1.0 mul:4\n", {all(0x80000000)})[0], 0U);
    EXPECT_EQ(run_in(mode, "v_add_f16_e64 v40, v8, v8 mul:4\n", {all(0x3c00)})[0] & 0xffff,
              0x4800U);
    EXPECT_EQ(run_in(mode, "v_add_f64_e64 v[40:41], v[8:9], v[8:9] mul:2\n",
                     {all(0), all(0x3ff00000)})[1],
              0x40100000U);
  }
}

// FP16_OVFL, bit 23: what overflows fp8 becomes the largest finite value.
TEST(Mode, ClampsWhatOverflowsFp8) {
  for (const bool clamp : {false, true}) {
    const std::string set = "s_setreg_imm32_b32 hwreg(HW_REG_MODE, 23, 1), ";
    const auto got =
        run_in(kKeepAll, set + (clamp ? "1" : "0") + "\nv_cvt_pk_fp8_f32 v40, v8, v9\n",
               {all(bits(1000.0f)), all(0xff800000)});
    EXPECT_EQ(got[0] & 0xffff, clamp ? 0xfe7eU : 0xff7fU);
  }
}

TEST(Mode, IsReadBackByField) {
  const auto got = run_in(0xa6,
                          "s_getreg_b32 s20, hwreg(HW_REG_MODE, 0, 8)\nv_mov_b32 v40, s20\n"
                          "s_mov_b32 s21, 3\ns_setreg_b32 hwreg(HW_REG_MODE, 4, 2), s21\n"
                          "s_getreg_b32 s20, hwreg(HW_REG_MODE, 4, 4)\nv_mov_b32 v41, s20\n",
                          {});
  EXPECT_EQ(got[0], 0xa6U);
  EXPECT_EQ(got[1], 0xbU) << "two bits were set, the two above stay";
}

}  // namespace
}  // namespace radiance::emulator::testing
