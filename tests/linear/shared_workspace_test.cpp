// The layers of a model share a workspace: what one leaves in it disturbs no other, whatever their
// shapes and rows.
#include <gtest/gtest.h>

#include <cstdint>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "radiance/radiance.hpp"
#include "tests/linear/calls.hpp"

namespace {

using namespace radiance::api;
namespace test = radiance::test;

constexpr int kMostRows = 20;

struct Shape {
  int64_t n, k, group;
};

// A few features with K split into several parts, whose sums lie where the counters of many
// features would be if their place depended on the shape; a group that only the general kernels
// take; and features for more than 64 counters.
constexpr Shape kShapes[] = {{64, 1024, 128}, {40, 120, 40}, {4224, 256, 128}};

class Layer {
 public:
  Layer(const Device& device, const Shape& shape, std::mt19937& rng)
      : device_(device),
        shape_(shape),
        x_(device, kMostRows * bytes(shape.k)),
        y_(device, kMostRows * bytes(shape.n)) {
    std::vector<uint32_t> codes(static_cast<size_t>(shape.k / 8 * shape.n));
    for (uint32_t& word : codes) word = static_cast<uint32_t>(rng());
    std::vector<uint16_t> scales(static_cast<size_t>(shape.k / shape.group * shape.n));
    for (uint16_t& scale : scales) {
      scale = static_cast<uint16_t>((rng() % 2 << 15) | 0x2800U | (rng() & 0x3ffU));
    }
    auto desc = make<radiance_weight_desc>();
    desc.format = RADIANCE_AUTOROUND_INT4;
    desc.n = shape.n;
    desc.k = shape.k;
    desc.group = shape.group;
    desc.codes = codes.data();
    desc.scales = scales.data();
    linear_ = std::make_unique<Linear>(device, desc);
    std::vector<float> x(static_cast<size_t>(kMostRows * shape.k));
    std::normal_distribution<float> normal;
    for (float& value : x) value = normal(rng);
    check(radiance_device_upload(device.get(), x_.get(), x.data(), x.size() * 4));
  }

  size_t workspace_bytes() const { return linear_->workspace_bytes(kMostRows); }

  // In the workspace, over poison.
  std::vector<float> forward(int64_t m, const Buffer& workspace) const {
    std::vector<float> y(static_cast<size_t>(m * shape_.n), -1e30F);
    check(radiance_device_upload(device_.get(), y_.get(), y.data(), y.size() * 4));
    const auto args = test::forward_args(m, x_.get(), y_.get(), workspace);
    check(radiance_forward(linear_->get(), &args));
    check(radiance_device_download(device_.get(), y.data(), y_.get(), y.size() * 4));
    return y;
  }

 private:
  static size_t bytes(int64_t values) { return static_cast<size_t>(values) * 4; }

  const Device& device_;
  Shape shape_;
  std::unique_ptr<Linear> linear_;
  Buffer x_, y_;
};

class SharedWorkspace : public ::testing::TestWithParam<const char*> {};

TEST_P(SharedWorkspace, EveryLayerComputesWhatItComputesAlone) {
  std::unique_ptr<Device> device;
  try {
    device = std::make_unique<Device>(GetParam(), 2);
  } catch (const radiance::Error& error) {
    GTEST_SKIP() << error.what();
  }
  std::mt19937 rng(11);
  std::vector<Layer> layers;
  size_t needed = 0;
  for (const Shape& shape : kShapes) {
    layers.emplace_back(*device, shape, rng);
    needed = std::max(needed, layers.back().workspace_bytes());
  }
  const auto zeroed = [&] {
    auto workspace = std::make_unique<Buffer>(*device, needed);
    check(radiance_workspace_init(device->get(), workspace->get(), needed, nullptr));
    return workspace;
  };
  const auto shared = zeroed();
  for (const int64_t m : {1, kMostRows, 3}) {
    for (const Layer& layer : layers) {
      EXPECT_EQ(layer.forward(m, *shared), layer.forward(m, *zeroed())) << m << " rows";
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Devices, SharedWorkspace,
                         ::testing::Values("cpu", "emu", "cuda:0", "hip:0"),
                         [](const auto& instance) {
                           std::string name = instance.param;
                           return name.substr(0, name.find(':'));
                         });

}  // namespace
