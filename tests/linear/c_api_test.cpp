// The C interface, and the C++ owners over it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <thread>
#include <vector>

#include "radiance/radiance.hpp"
#include "tests/linear/calls.hpp"

namespace {

using ::testing::HasSubstr;
using namespace radiance::api;
namespace test = radiance::test;

// 24 x 64 in groups of 32; every code 9 (the value 1), scales 1.
struct Weight {
  std::vector<uint32_t> codes = std::vector<uint32_t>(64 / 8 * 24, 0x99999999u);
  std::vector<uint16_t> scales = std::vector<uint16_t>(2 * 24, 0x3c00);

  radiance_weight_desc desc() const {
    auto d = make<radiance_weight_desc>();
    d.format = RADIANCE_AUTOROUND_INT4;
    d.n = 24;
    d.k = 64;
    d.group = 32;
    d.codes = codes.data();
    d.scales = scales.data();
    return d;
  }
};

struct Call {
  std::vector<float> x, y;
  Buffer workspace;

  Call(const Device& device, const Linear& linear, int64_t m)
      : x(static_cast<size_t>(m * 64), 2.0f),
        y(static_cast<size_t>(m * 24), NAN),
        workspace(device, linear.workspace_bytes(m)) {}

  radiance_forward_args args() {
    return test::forward_args(static_cast<int64_t>(x.size()) / 64, x.data(), y.data(), workspace);
  }
};

TEST(CApi, MultipliesAndDescribes) {
  const Device device("cpu");
  const Weight weight;
  const Linear linear(device, weight.desc());
  Call call(device, linear, 5);
  linear.forward(call.args());
  for (const float y : call.y) EXPECT_EQ(y, 128.0f);

  auto info = make<radiance_linear_info>();
  check(radiance_linear_get_info(linear.get(), &info));
  EXPECT_EQ(info.n, 24);
  EXPECT_EQ(info.k, 64);
  EXPECT_EQ(info.group, 32);
  EXPECT_STREQ(info.target, "cpu");

  EXPECT_STREQ(device.info().name, "cpu");
  EXPECT_GT(device.info().units, 0);

  char line[200];
  check(radiance_explain(linear.get(), 5, line, sizeof(line)));
  EXPECT_THAT(line, HasSubstr("5 rows of 24x64"));
  char cut[4];
  check(radiance_explain(linear.get(), 5, cut, sizeof(cut)));
  EXPECT_EQ(radiance_explain(linear.get(), 0, line, sizeof(line)), RADIANCE_INVALID_ARGUMENT);
  EXPECT_EQ(std::strlen(cut), 3u);
}

TEST(CApi, QuantizeThenGemmIsForward) {
  const Device device("cpu");
  const Weight weight;
  const Linear linear(device, weight.desc());
  Call call(device, linear, 3);
  for (size_t i = 0; i < call.x.size(); ++i) call.x[i] = std::sin(static_cast<float>(i));
  linear.forward(call.args());

  std::vector<uint8_t> xq(3 * 64);
  std::vector<float> scales(3), y(3 * 24, NAN);
  device.quantize(test::quantize_args(3, 64, call.x.data(), xq.data(), scales.data()));
  linear.gemm(test::gemm_args(3, xq.data(), scales.data(), y.data(), call.workspace));
  EXPECT_EQ(y, call.y);
}

TEST(CApi, AnOlderCallersStructIsEnough) {
  const Device device("cpu", 1);
  const Weight weight;
  const Linear linear(device, weight.desc());
  Call call(device, linear, 1);
  radiance_forward_args args = call.args();
  // Everything up to workspace_bytes, without a stream.
  args.struct_size = offsetof(radiance_forward_args, stream);
  args.stream = reinterpret_cast<void*>(1);
  EXPECT_EQ(radiance_forward(linear.get(), &args), RADIANCE_OK);
  args.struct_size = 0;
  EXPECT_EQ(radiance_forward(linear.get(), &args), RADIANCE_INVALID_ARGUMENT);
  EXPECT_THAT(radiance_last_error(), HasSubstr("struct_size"));

  struct {
    radiance_device_info info;
    char guard;
  } small{};
  small.info.struct_size = offsetof(radiance_device_info, units);
  small.info.units = -77;
  check(radiance_device_get_info(device.get(), &small.info));
  EXPECT_EQ(small.info.units, -77);  // past the caller's struct
}

TEST(CApi, NullsAreErrorsNotCrashes) {
  EXPECT_EQ(radiance_device_open("cpu", nullptr, nullptr), RADIANCE_INVALID_ARGUMENT);
  EXPECT_EQ(radiance_device_get_info(nullptr, nullptr), RADIANCE_INVALID_ARGUMENT);
  EXPECT_EQ(radiance_packed_bytes(nullptr, nullptr, nullptr), RADIANCE_INVALID_ARGUMENT);
  EXPECT_EQ(radiance_pack(nullptr, nullptr, nullptr, 0), RADIANCE_INVALID_ARGUMENT);
  EXPECT_EQ(radiance_linear_create(nullptr, nullptr, 0, nullptr), RADIANCE_INVALID_ARGUMENT);
  EXPECT_EQ(radiance_forward(nullptr, nullptr), RADIANCE_INVALID_ARGUMENT);
  EXPECT_EQ(radiance_gemm(nullptr, nullptr), RADIANCE_INVALID_ARGUMENT);
  EXPECT_EQ(radiance_quantize_activations(nullptr, nullptr), RADIANCE_INVALID_ARGUMENT);
  EXPECT_EQ(radiance_workspace_bytes(nullptr, 1, nullptr), RADIANCE_INVALID_ARGUMENT);
  EXPECT_EQ(radiance_explain(nullptr, 1, nullptr, 0), RADIANCE_INVALID_ARGUMENT);
  radiance_device_close(nullptr);
  radiance_linear_destroy(nullptr);
}

TEST(CApi, ErrorsBelongToTheirThread) {
  EXPECT_EQ(radiance_device_open("toaster", nullptr, nullptr), RADIANCE_INVALID_ARGUMENT);
  const std::string mine = radiance_last_error();
  std::thread([] { EXPECT_STREQ(radiance_last_error(), ""); }).join();
  EXPECT_EQ(radiance_last_error(), mine);
}

TEST(CApi, EveryStatusHasAName) {
  for (int s = RADIANCE_OK; s <= RADIANCE_INTERNAL; ++s) {
    EXPECT_STRNE(radiance_status_name(static_cast<radiance_status>(s)), "unknown status");
  }
  EXPECT_STREQ(radiance_status_name(static_cast<radiance_status>(99)), "unknown status");
}

TEST(CApi, TheCppOwnersThrowTheSentence) {
  try {
    const Device device("toaster");
    FAIL() << "opened";
  } catch (const radiance::Error& error) {
    EXPECT_EQ(error.status(), RADIANCE_INVALID_ARGUMENT);
    EXPECT_THAT(error.what(), HasSubstr("toaster"));
  }
}

}  // namespace
