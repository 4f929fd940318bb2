// The census of assembled kernels, through the library that the instruments load.
#include "census/library.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <vector>

namespace radiance::census {
namespace {

using nlohmann::json;

std::vector<uint8_t> read(const char* path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

// Status and text of a census.
std::pair<int, std::string> take(const std::vector<uint8_t>& bytes) {
  char* text = nullptr;
  const int status = radiance_census_take(bytes.data(), bytes.size(), &text);
  std::string result = text;
  radiance_census_free(text);
  return {status, std::move(result)};
}

TEST(Library, HasItsVersion) { EXPECT_EQ(radiance_census_version(), kRadianceCensusVersion); }

TEST(Library, RefusesWhatIsNoCodeObject) {
  for (const std::vector<uint8_t>& bytes :
       {std::vector<uint8_t>{}, {0x7f, 'E', 'L', 'F'}, std::vector<uint8_t>(5000, 0xff)}) {
    const auto [status, text] = take(bytes);
    EXPECT_EQ(status, 1);
    EXPECT_FALSE(text.empty());
    EXPECT_EQ(text.find('\n'), std::string::npos) << text;
  }
}

#ifdef RADIANCE_LOOPS_HSACO

TEST(Library, RefusesACutCodeObject) {
  std::vector<uint8_t> bytes = read(RADIANCE_LOOPS_HSACO);
  bytes.resize(bytes.size() / 2);
  EXPECT_EQ(take(bytes).first, 1);
}

TEST(Library, CountsAssembledKernels) {
  const auto [status, text] = take(read(RADIANCE_LOOPS_HSACO));
  ASSERT_EQ(status, 0) << text;
  const json census = json::parse(text);
  ASSERT_EQ(census.at("kernels").size(), 2u);
  EXPECT_EQ(census.at("device_compiler"), "") << "an assembler does not sign";
  const auto kernel = [&](const char* name) {
    for (const json& one : census.at("kernels")) {
      if (one.at("name") == name) return one;
    }
    return json();
  };

  const json unrolled = kernel("unrolled");
  EXPECT_EQ(unrolled.at("target"), "gfx1201");
  EXPECT_EQ(unrolled.at("instructions"), 41);
  EXPECT_EQ(unrolled.at("vgprs"), 21);
  EXPECT_EQ(unrolled.at("sgprs"), 8);
  EXPECT_EQ(unrolled.at("lds_bytes"), 4096);
  EXPECT_EQ(unrolled.at("scratch_bytes"), 0);
  EXPECT_EQ(unrolled.at("spills"), 0);
  EXPECT_EQ(unrolled.at("workgroup_size"), 256);
  EXPECT_EQ(unrolled.at("occupancy"), 16);
  EXPECT_EQ(unrolled.at("classes").at("global_store_b128"), 1);
  EXPECT_EQ(unrolled.at("classes").at("global_store_scalar_base"), 1);
  const json& loop = unrolled.at("main_loop");
  EXPECT_EQ(loop.at("instructions"), 33);
  EXPECT_EQ(loop.at("wmma"), 4);
  EXPECT_EQ(loop.at("valu"), 2);
  EXPECT_EQ(loop.at("vopd"), 0);
  EXPECT_EQ(loop.at("salu"), 2);
  EXPECT_EQ(loop.at("lds"), 6);
  EXPECT_EQ(loop.at("global"), 4);
  EXPECT_EQ(loop.at("full_waits"), 2);
  EXPECT_EQ(loop.at("full_load_waits"), 1);
  EXPECT_EQ(loop.at("round_trips"), 1);
  EXPECT_DOUBLE_EQ(loop.at("wmma_share").get<double>(), 100.0 * 32 / 34);
  // Four stores of 8 bytes and two loads of 16, 32 lanes each, over 4; four loads of 8.
  EXPECT_DOUBLE_EQ(loop.at("lds_bytes_per_wmma").get<double>(), 512);
  EXPECT_DOUBLE_EQ(loop.at("global_bytes_per_wmma").get<double>(), 256);
  EXPECT_EQ(loop.at("global_loads"), json({{"b64", 4}}));

  // The loop over slabs, with the staging loop inside.
  const json nested = kernel("nested");
  EXPECT_EQ(nested.at("scratch_bytes"), 16);
  EXPECT_EQ(nested.at("spills"), 3);
  EXPECT_EQ(nested.at("workgroup_size"), 128);
  EXPECT_EQ(nested.at("main_loop").at("instructions"), 17);
  EXPECT_EQ(nested.at("main_loop").at("wmma"), 1);
  EXPECT_EQ(nested.at("main_loop").at("vopd"), 1);
  EXPECT_EQ(nested.at("main_loop").at("classes").at("global_load_vector_base"), 1);
}

#endif

}  // namespace
}  // namespace radiance::census
