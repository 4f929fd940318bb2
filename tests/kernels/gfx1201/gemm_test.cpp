// Every int4 configuration on the emulator, with its strict checks, against a plain fp64 sum: the
// first place where a wrong kernel shows. The gate (lab/) is the full test.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <random>
#include <set>
#include <vector>

#include "kernels/backend.hpp"
#include "kernels/gfx1201/ablations.hpp"
#include "kernels/gfx1201/geometry.hpp"
#include "numerics/e4m3.hpp"
#include "numerics/f16.hpp"
#include "numerics/int4.hpp"

namespace radiance::gfx1201 {
namespace {

std::unique_ptr<Device> open_emulator(uint64_t order_seed) {
  DeviceOptions options;
  options.strict = true;
  options.order_seed = order_seed;
  return open_device("emu", options);
}

struct Problem {
  WeightShape shape;
  int64_t m = 0;
  std::vector<uint32_t> codes;
  std::vector<uint16_t> scales, bias;
  std::vector<uint8_t> xq;
  std::vector<float> x_scales;

  radiance_weight_desc desc() const {
    radiance_weight_desc d{};
    d.format = shape.format;
    d.n = shape.n;
    d.k = shape.k;
    d.group = shape.group;
    d.codes = codes.data();
    d.scales = scales.data();
    return d;
  }
  double weight(int64_t n, int64_t k) const {
    const uint32_t word = codes[static_cast<size_t>(k / 8 * shape.n + n)];
    return int4_value(int4_code(word, static_cast<int>(k % 8))) *
           static_cast<double>(
               f16_to_f32(scales[static_cast<size_t>(k / shape.group * shape.n + n)]));
  }
};

Problem make_problem(std::mt19937& rng, int64_t m, int64_t n, int64_t k, int64_t group) {
  Problem p;
  p.shape = {RADIANCE_AUTOROUND_INT4, n, k, group};
  p.m = m;
  p.codes.resize(static_cast<size_t>(k / 8 * n));
  for (auto& c : p.codes) c = static_cast<uint32_t>(rng());
  const auto signed_size = [&](int most) {
    const float size = std::ldexp(1.0f, -static_cast<int>(rng() % static_cast<unsigned>(most))) *
                       (1.0f + static_cast<float>(rng() % 1000) / 1000.0f);
    return f32_to_f16(rng() % 2 ? size : -size);
  };
  for (int64_t i = 0; i < p.shape.groups() * n; ++i) p.scales.push_back(signed_size(20));
  for (int64_t i = 0; i < n; ++i) p.bias.push_back(signed_size(4));
  for (int64_t i = 0; i < m * k; ++i) {
    uint8_t byte;
    do byte = static_cast<uint8_t>(rng());
    while ((byte & 0x7f) == kE4m3Nan);
    p.xq.push_back(byte);
  }
  for (int64_t i = 0; i < m; ++i) {
    p.x_scales.push_back(std::ldexp(1.0f + static_cast<float>(rng() % 100) / 100.0f, -8));
  }
  return p;
}

// A problem's tensors on a device.
struct OnDevice {
  OnDevice(Device& device, const Backend& backend, const Problem& p)
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
  GemmCall call(const Problem& p, const char* config) const {
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
  Buffer packed, workspace, xq, x_scales, bias, y;
};

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
        sum += x * p.weight(n, k);
        size += std::abs(x * p.weight(n, k));
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

// Every configuration for these rows; twice, in two orders of waves, to the same bit; the counters
// of split-K are zero again after each.
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
  for (const AblationKernel& kernel : ablation_kernels()) {
    if (!kernel.right || !takes(kernel, p.shape, p.m)) continue;
    seen.insert(kernel.config);
    expect_matches(p, run(*device, *backend, p, tensors, header, kernel.config), kernel.config);
  }
  return seen;
}

TEST(Gfx1201Gemm, DecodeMatchesAnFp64Sum) {
  std::mt19937 rng(20261130);
  std::set<std::string> seen;
  for (const int64_t m : {1, 16, 17, 33, 47, 64}) {
    seen.merge(check_configs(make_problem(rng, m, 150, 640, m == 17 ? 640 : 128)));
    if (HasFatalFailure()) return;
  }
  for (const int row_tiles : {1, 2, 3, 4}) {
    for (const char* kind : {"decode/r", "decode/baseline/r"}) {
      for (const int split : {1, 2, 4}) {
        const std::string config = kind + std::to_string(row_tiles) + "/s" + std::to_string(split);
        EXPECT_TRUE(seen.contains(config)) << config;
      }
    }
  }
  for (const char* kind : {"staging4", "staging16", "priority", "prefetch", "register_prefetch"}) {
    EXPECT_TRUE(seen.contains(std::string("ablate/decode/r1/") + kind)) << kind;
  }
}

TEST(Gfx1201Gemm, PrefillMatchesAnFp64Sum) {
  std::mt19937 rng(7);
  std::set<std::string> seen;
  // Whole tiles, ragged ones, and more row blocks than go side by side.
  seen.merge(check_configs(make_problem(rng, 256, 128, 256, 128)));
  seen.merge(check_configs(make_problem(rng, 300, 200, 384, 384)));
  seen.merge(check_configs(make_problem(rng, 9 * kPrefillM - 3, 136, 128, 128)));
  for (const char* config :
       {"prefill/n2", "prefill/n4", "prefill/baseline/n2", "prefill/baseline/n4",
        "prefill/baseline/n2/group", "ablate/prefill/n2/priority", "ablate/prefill/n2/prefetch",
        "ablate/prefill/n2/register_prefetch"}) {
    EXPECT_TRUE(seen.contains(config)) << config;
  }
}

TEST(Gfx1201Gemm, GroupsOf64And32MatchAnFp64Sum) {
  std::mt19937 rng(10);
  for (const int64_t group : {64, 32}) {
    for (const int64_t m : {7, 32, 40, 64}) {
      EXPECT_EQ(check_configs(make_problem(rng, m, 150, 640, group)).size(), 5u);
      if (HasFatalFailure()) return;
    }
    EXPECT_EQ(check_configs(make_problem(rng, 300, 200, 384, group)).size(), 2u);
    if (HasFatalFailure()) return;
  }
}

TEST(Gfx1201Gemm, GeneralMatchesAnFp64Sum) {
  std::mt19937 rng(8);
  for (const auto& [k, group] :
       {std::pair<int64_t, int64_t>{256, 16}, {320, 64}, {200, 128}, {1000, 1000}, {72, 40}}) {
    for (const int64_t m : {1, 9}) {
      EXPECT_EQ(check_configs(make_problem(rng, m, 130, k, group)),
                std::set<std::string>{"general"});
      if (HasFatalFailure()) return;
    }
  }
}

TEST(Gfx1201Gemm, RefusesWhatItsLoadsCannotTake) {
  std::mt19937 rng(9);
  const Problem p = make_problem(rng, 3, 16, 128, 128);
  const auto device = open_emulator(1);
  const auto backend = make_backend(*device);
  OnDevice tensors(*device, *backend, p);
  backend->pack(p.shape, p.desc(), tensors.packed.get());
  PackedHeader header;
  device->download(&header, tensors.packed.get(), sizeof(header));
  const auto refused = [&](const GemmCall& call) {
    try {
      backend->gemm(header, tensors.packed.get(), call);
    } catch (const Error& error) {
      return error.status();
    }
    return RADIANCE_OK;
  };
  GemmCall call = tensors.call(p, "decode/r1/s1");
  call.xq += 8;
  EXPECT_EQ(refused(call), RADIANCE_INVALID_ARGUMENT);
  call = tensors.call(p, "decode/r1/s1");
  call.ldy = int64_t{1} << 27;
  EXPECT_EQ(refused(call), RADIANCE_UNSUPPORTED);
  EXPECT_EQ(refused(tensors.call(p, "decode/r2/s1")), RADIANCE_INVALID_ARGUMENT);
  EXPECT_EQ(refused(tensors.call(p, "decode/r1/s1")), RADIANCE_OK);
}

}  // namespace
}  // namespace radiance::gfx1201
