// The instruction vectors: short programs with the registers they leave
// (data/isa-vectors/README.md).
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string_view>

#include "tests/emulator/wave_runner.hpp"

namespace radiance::emulator {
namespace {

using Json = nlohmann::json;

// f32 to nearest even with denormals flushed; f16 and f64 keep theirs.
constexpr uint32_t kVectorMode = 0xc0;

struct Exception {
  std::string_view id;
  std::string_view reason;
};
// Expectations that are not followed, and why.
constexpr Exception kExceptions[] = {
    {"f69cf51d7f52",
     "v_add_f32 with mul:2: the vector ignores the output modifier. AMD's RDNA4 instruction set "
     "architecture, 7.2.3.1 \"Output Operand Modifiers\" (page 82 of the PDF of April 2025), "
     "allows it "
     "whatever MODE says of denormals; it was RDNA3 that ignored it where denormals are kept or in "
     "IEEE mode (its 7.2.3.1)"},
    {"f6d62d894c4a",
     "v_div_fixup_f32 of 0 / 0: its pseudocode in the same document, 16.12 \"VOP3 & VOP3SD "
     "Instructions\", gives 0xffc00000, the vector 0x7fc00000; the sign of a NaN means nothing"},
};

std::vector<uint8_t> bytes_of(const std::string& hex) {
  std::vector<uint8_t> out;
  for (size_t i = 0; i + 1 < hex.size(); i += 2) {
    out.push_back(static_cast<uint8_t>(std::stoul(hex.substr(i, 2), nullptr, 16)));
  }
  return out;
}

bool is_nan(uint32_t bits) { return (bits & 0x7fffffff) > 0x7f800000; }

// Equal, or both NaN where the payload is not defined, or within `ulp` of each other.
bool same(uint32_t got, uint32_t want, uint32_t ulp) {
  if (got == want) return true;
  if (ulp == 0) return false;
  if (is_nan(got) && is_nan(want)) return true;
  const auto difference = static_cast<int64_t>(got) - static_cast<int64_t>(want);
  return std::llabs(difference) <= ulp;
}

class IsaVectors : public testing::TestWithParam<bool> {};

TEST_P(IsaVectors, LeaveTheRegistersTheyShould) {
  std::ifstream file(RADIANCE_EMULATOR_TEST_DATA "/isa-vectors/vectors.json");
  const Json vectors = Json::parse(file);
  ASSERT_EQ(vectors.size(), 332u);
  for (const Json& vector : vectors) {
    const auto id = vector["id"].get<std::string>();
    const auto excepted = [&](const Exception& exception) { return exception.id == id; };
    if (std::ranges::any_of(kExceptions, excepted)) continue;
    SCOPED_TRACE(id + ": " + vector["asm"].dump());
    const auto lanes = vector["lanes"].get<uint32_t>();
    const auto code = bytes_of(vector["code"].get<std::string>());
    const auto ulp = vector["ulp"].get<uint32_t>();
    WaveRunner runner(lanes, GetParam());
    for (uint32_t w = 0; w * kLanes < lanes; ++w) runner.wave(w).mode.bits = kVectorMode;
    try {
      runner.run(code);
    } catch (const Fault& fault) {
      ADD_FAILURE() << fault.what();
      continue;
    }
    for (uint32_t lane = 0; lane < lanes; ++lane) {
      const Wave& wave = runner.wave(lane / kLanes);
      for (uint32_t reg = 0; reg < 16; ++reg) {
        const auto want = vector["vgpr"][lane][reg].get<uint32_t>();
        const uint32_t got = wave.vgpr[reg].v[lane % kLanes];
        EXPECT_TRUE(same(got, want, ulp)) << std::hex << "lane " << lane << " v" << std::dec << reg
                                          << std::hex << ": got " << got << ", want " << want;
      }
    }
    Wave& wave = runner.wave();
    for (uint32_t reg = 0; reg < 16; ++reg) {
      EXPECT_EQ(wave.sgpr[reg], vector["sgpr"][reg].get<uint32_t>()) << "s" << reg;
    }
    EXPECT_EQ(wave.vcc(), vector["vcc"].get<uint32_t>()) << "vcc";
    EXPECT_EQ(wave.scc(), vector["scc"].get<uint32_t>()) << "scc";
    EXPECT_EQ(wave.exec(), vector["exec"].get<uint32_t>()) << "exec";
  }
}

INSTANTIATE_TEST_SUITE_P(Modes, IsaVectors, testing::Bool(),
                         [](const auto& mode) { return mode.param ? "Strict" : "Fast"; });

}  // namespace
}  // namespace radiance::emulator
