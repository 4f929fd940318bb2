#include "tests/kernels/gfx1201/emulated_gemm.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>

#include "kernels/gfx1201/geometry.hpp"
#include "numerics/e2m1.hpp"
#include "numerics/e4m3.hpp"
#include "numerics/f16.hpp"
#include "numerics/int4.hpp"

namespace radiance::gfx1201::test {

std::unique_ptr<Device> open_emulator(uint64_t order_seed) {
  DeviceOptions options;
  options.strict = true;
  options.order_seed = order_seed;
  return open_device("emu", options);
}

radiance_weight_desc Problem::desc() const {
  radiance_weight_desc d{};
  d.format = shape.format;
  d.n = shape.n;
  d.k = shape.k;
  d.group = shape.group;
  d.codes = codes.data();
  d.scales = scales.data();
  return d;
}

uint16_t random_f16(std::mt19937& rng, int most) {
  const float size = std::ldexp(1.0f, -static_cast<int>(rng() % static_cast<unsigned>(most))) *
                     (1.0f + static_cast<float>(rng() % 1000) / 1000.0f);
  return f32_to_f16(rng() % 2 ? size : -size);
}

Problem int4_problem(std::mt19937& rng, int64_t m, int64_t n, int64_t k, int64_t group) {
  Problem p;
  p.shape = {RADIANCE_AUTOROUND_INT4, n, k, group};
  p.m = m;
  std::vector<uint32_t> codes(static_cast<size_t>(k / 8 * n));
  for (uint32_t& word : codes) word = static_cast<uint32_t>(rng());
  std::vector<uint16_t> scales;
  for (int64_t i = 0; i < p.shape.groups() * n; ++i) scales.push_back(random_f16(rng, 20));
  for (int64_t row = 0; row < n; ++row) {
    for (int64_t i = 0; i < k; ++i) {
      const uint32_t word = codes[static_cast<size_t>(i / 8 * n + row)];
      const float scale = f16_to_f32(scales[static_cast<size_t>(i / group * n + row)]);
      p.weights.push_back(int4_value(int4_code(word, static_cast<int>(i % 8))) *
                          static_cast<double>(scale));
    }
  }
  p.codes.resize(codes.size() * 4);
  std::memcpy(p.codes.data(), codes.data(), p.codes.size());
  p.scales.resize(scales.size() * 2);
  std::memcpy(p.scales.data(), scales.data(), p.scales.size());
  fill_rows(rng, p);
  return p;
}

Problem mxfp4_problem(std::mt19937& rng, int64_t m, int64_t n, int64_t k,
                      const std::function<int(int64_t feature, int64_t block)>& scale) {
  Problem p;
  p.shape = {RADIANCE_MXFP4, n, k, 32};
  p.m = m;
  for (int64_t i = 0; i < n * k / 2; ++i) p.codes.push_back(static_cast<uint8_t>(rng()));
  for (int64_t row = 0; row < n; ++row) {
    for (int64_t block = 0; block < k / 32; ++block) {
      p.scales.push_back(static_cast<uint8_t>(scale(row, block)));
    }
  }
  for (int64_t i = 0; i < n * k; ++i) {
    const uint8_t code = p.codes[static_cast<size_t>(i / 2)] >> (i % 2 * 4) & 15;
    const int s = p.scales[static_cast<size_t>(i / 32)];
    p.weights.push_back(std::ldexp(e2m1_to_f32(code), s - 127));
  }
  fill_rows(rng, p);
  return p;
}

void fill_rows(std::mt19937& rng, Problem& p) {
  for (int64_t i = 0; i < p.shape.n; ++i) p.bias.push_back(random_f16(rng, 4));
  for (int64_t i = 0; i < p.m * p.shape.k; ++i) {
    uint8_t byte;
    do byte = static_cast<uint8_t>(rng());
    while ((byte & 0x7f) == kE4m3Nan);
    p.xq.push_back(byte);
  }
  for (int64_t i = 0; i < p.m; ++i) {
    p.x_scales.push_back(std::ldexp(1.0f + static_cast<float>(rng() % 100) / 100.0f, -8));
  }
}

OnDevice::OnDevice(Device& device, const Backend& backend, const Problem& p)
    : packed(device, backend.packed_bytes(p.shape)),
      workspace(device, backend.workspace_bytes(p.shape, p.m)),
      xq(device, p.xq.size()),
      x_scales(device, p.x_scales.size() * 4),
      bias(device, p.bias.size() * 2),
      y(device, static_cast<size_t>(p.m * p.shape.n) * 4) {
  device.upload(xq.get(), p.xq.data(), p.xq.size());
  device.upload(x_scales.get(), p.x_scales.data(), p.x_scales.size() * 4);
  device.upload(bias.get(), p.bias.data(), p.bias.size() * 2);
  device.fill(workspace.get(), 0, workspace.bytes(), nullptr);
}

GemmCall OnDevice::call(const Problem& p, const char* config) const {
  GemmCall call;
  call.m = p.m;
  call.xq = xq.get<uint8_t>();
  call.x_scales = x_scales.get<float>();
  call.y = y.get();
  call.y_dtype = RADIANCE_F32;
  call.ldy = p.shape.n;
  call.bias = bias.get();
  call.bias_dtype = RADIANCE_F16;
  call.workspace = workspace.get();
  call.workspace_bytes = workspace.bytes();
  call.config = config;
  return call;
}

std::vector<float> run(Device& device, Backend& backend, const Problem& p, const OnDevice& tensors,
                       const PackedHeader& header, const std::string& config) {
  std::vector<float> y(static_cast<size_t>(p.m * p.shape.n));
  device.fill(tensors.y.get(), 0xff, y.size() * 4, nullptr);
  backend.gemm(header, tensors.packed.get(), tensors.call(p, config.c_str()));
  device.synchronize(nullptr);
  device.download(y.data(), tensors.y.get(), y.size() * 4);
  return y;
}

void expect_matches(const Problem& p, const std::vector<float>& y, const std::string& config) {
  for (int64_t m = 0; m < p.m; ++m) {
    for (int64_t n = 0; n < p.shape.n; ++n) {
      double sum = 0, size = 0;
      for (int64_t k = 0; k < p.shape.k; ++k) {
        const double x = e4m3_to_f32(p.xq[static_cast<size_t>(m * p.shape.k + k)]);
        const double w = p.weights[static_cast<size_t>(n * p.shape.k + k)];
        sum += x * w;
        size += std::abs(x * w);
      }
      const double bias = f16_to_f32(p.bias[static_cast<size_t>(n)]);
      sum = sum * p.x_scales[static_cast<size_t>(m)] + bias;
      size = size * p.x_scales[static_cast<size_t>(m)] + std::abs(bias);
      // Stricter than the contract's bound, which takes 8 |scale x| for every product.
      const double bound = std::ldexp(std::abs(sum), -23) + std::ldexp(size, -19);
      ASSERT_NEAR(y[static_cast<size_t>(m * p.shape.n + n)], sum, bound)
          << config << " m " << m << "/" << p.m << " n " << n << "/" << p.shape.n << " k "
          << p.shape.k << " group " << p.shape.group;
    }
  }
}

std::set<std::string> check_configs(const Problem& p) {
  const auto device = open_emulator(1), other_order = open_emulator(2);
  const auto backend = make_backend(*device), other_backend = make_backend(*other_order);
  OnDevice tensors(*device, *backend, p), other(*other_order, *other_backend, p);
  backend->pack(p.shape, p.desc(), tensors.packed.get());
  other_backend->pack(p.shape, p.desc(), other.packed.get());
  PackedHeader header;
  device->download(&header, tensors.packed.get(), sizeof(header));
  std::set<std::string> seen;
  for (const Plan& plan : backend->configs(p.shape, p.m)) {
    seen.insert(plan.config);
    const std::vector<float> y = run(*device, *backend, p, tensors, header, plan.config);
    expect_matches(p, y, plan.config);
    if (::testing::Test::HasFatalFailure()) return seen;
    const std::vector<float> again =
        run(*other_order, *other_backend, p, other, header, plan.config);
    EXPECT_EQ(std::memcmp(y.data(), again.data(), y.size() * 4), 0) << plan.config;
  }
  // They take their places like the others: two row blocks are enough.
  if (p.m > 2 * kPrefillM) return seen;
  for (const radiance::Ablation& ablation : backend->ablations(p.shape, p.m)) {
    if (!ablation.right) continue;
    seen.insert(ablation.config);
    expect_matches(p, run(*device, *backend, p, tensors, header, ablation.config), ablation.config);
  }
  return seen;
}

}  // namespace radiance::gfx1201::test
