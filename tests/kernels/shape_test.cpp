#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

#include "kernels/backend.hpp"

namespace radiance {
namespace {

using ::testing::HasSubstr;

radiance_weight_desc desc(radiance_format format, int64_t n, int64_t k, int64_t group) {
  radiance_weight_desc d{};
  d.format = format;
  d.n = n;
  d.k = k;
  d.group = group;
  return d;
}

Error error_of(const radiance_weight_desc& d) {
  try {
    checked_shape(d);
  } catch (const Error& error) {
    return error;
  }
  ADD_FAILURE() << "accepted";
  return Error(RADIANCE_OK, "");
}

TEST(CheckedShape, ResolvesTheGroup) {
  EXPECT_EQ(checked_shape(desc(RADIANCE_AUTOROUND_INT4, 5, 576, 128)).groups(), 5);
  EXPECT_EQ(checked_shape(desc(RADIANCE_AUTOROUND_INT4, 5, 576, -1)).group, 576);
  EXPECT_EQ(checked_shape(desc(RADIANCE_AUTOROUND_INT4, 5, 64, 128)).group, 64);
  EXPECT_EQ(checked_shape(desc(RADIANCE_MXFP4, 5, 64, 0)).group, 32);
}

TEST(CheckedShape, NamesWhatItRefuses) {
  EXPECT_EQ(error_of(desc(RADIANCE_AUTOROUND_INT4, 0, 64, 64)).status(), RADIANCE_INVALID_ARGUMENT);
  EXPECT_THAT(error_of(desc(RADIANCE_AUTOROUND_INT4, 4, 60, 64)).what(), HasSubstr("k is 60"));
  EXPECT_THAT(error_of(desc(RADIANCE_AUTOROUND_INT4, 4, 64, 12)).what(), HasSubstr("group is 12"));
  EXPECT_THAT(error_of(desc(RADIANCE_AUTOROUND_INT4, 4, 64, 0)).what(), HasSubstr("group is 0"));
  EXPECT_THAT(error_of(desc(RADIANCE_MXFP4, 4, 48, 32)).what(), HasSubstr("multiple of 32"));
  EXPECT_THAT(error_of(desc(RADIANCE_MXFP4, 4, 64, 64)).what(), HasSubstr("blocks of 32"));
  EXPECT_EQ(error_of(desc(RADIANCE_AUTOROUND_INT4, int64_t{1} << 31, 64, 64)).status(),
            RADIANCE_INVALID_ARGUMENT);
  EXPECT_EQ(error_of(desc(static_cast<radiance_format>(9), 4, 64, 64)).status(),
            RADIANCE_INVALID_ARGUMENT);
}

TEST(CheckScales, FindsTheFirstBadOne) {
  const WeightShape int4{RADIANCE_AUTOROUND_INT4, 3, 256, 128};
  std::vector<uint16_t> halves(6, 0xbc00);  // -1: any sign is good
  EXPECT_NO_THROW(check_scales(int4, halves.data()));
  halves[4] = 0x7c00;
  try {
    check_scales(int4, halves.data());
    FAIL() << "infinity accepted";
  } catch (const Error& error) {
    EXPECT_EQ(error.status(), RADIANCE_BAD_INPUT);
    EXPECT_THAT(error.what(), HasSubstr("group 1, n 1"));
  }
  const WeightShape mxfp4{RADIANCE_MXFP4, 2, 64, 32};
  const std::vector<uint8_t> bytes = {0, 254, 127, 255};
  try {
    check_scales(mxfp4, bytes.data());
    FAIL() << "255 accepted";
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), HasSubstr("n 1, block 1"));
  }
}

}  // namespace
}  // namespace radiance
