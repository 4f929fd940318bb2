// Every kernel of every instruction set on small random problems against a plain fp64 sum: the
// first place where a wrong kernel shows. The gate (lab/) is the full test.
#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <vector>

#include "kernels/backend.hpp"
#include "kernels/cpu/policy.hpp"
#include "numerics/e2m1.hpp"
#include "numerics/e4m3.hpp"
#include "numerics/e8m0.hpp"
#include "numerics/f16.hpp"
#include "numerics/int4.hpp"
#include "runtime/cpu_device.hpp"

namespace radiance::cpu {
namespace {

struct Problem {
  WeightShape shape;
  int64_t m = 0;
  std::vector<uint32_t> codes;
  std::vector<uint16_t> f16_scales;
  std::vector<uint8_t> e8m0_scales;
  std::vector<uint8_t> xq;
  std::vector<float> x_scales;

  radiance_weight_desc desc() const {
    radiance_weight_desc d{};
    d.format = shape.format;
    d.n = shape.n;
    d.k = shape.k;
    d.group = shape.group;
    d.codes = codes.data();
    d.scales = shape.format == RADIANCE_MXFP4 ? static_cast<const void*>(e8m0_scales.data())
                                              : f16_scales.data();
    return d;
  }
  double weight(int64_t n, int64_t k) const {
    const int64_t g = k / shape.group;
    if (shape.format == RADIANCE_MXFP4) {
      const uint8_t byte = reinterpret_cast<const uint8_t*>(codes.data())[(n * shape.k + k) / 2];
      return static_cast<double>(e2m1_to_f32(static_cast<uint8_t>(byte >> (k % 2 * 4) & 15))) *
             e8m0_to_f32(e8m0_scales[static_cast<size_t>(n * shape.groups() + g)]);
    }
    const uint32_t word = codes[static_cast<size_t>(k / 8 * shape.n + n)];
    return int4_value(int4_code(word, static_cast<int>(k % 8))) *
           static_cast<double>(f16_to_f32(f16_scales[static_cast<size_t>(g * shape.n + n)]));
  }
};

Problem make_problem(std::mt19937& rng, radiance_format format) {
  Problem p;
  const bool mxfp4 = format == RADIANCE_MXFP4;
  radiance_weight_desc d{};
  d.format = format;
  d.n = 1 + rng() % 120;
  // Sometimes long: groups of more than 512 are summed in parts.
  d.k = mxfp4 ? 32 * (1 + rng() % 12) : 8 * (1 + rng() % (rng() % 4 == 0 ? 250 : 60));
  constexpr int64_t groups[] = {8, 32, 40, 64, 128, 264, 1000, -1};
  d.group = mxfp4 ? 32 : groups[rng() % 8];
  p.shape = checked_shape(d);
  p.m = 1 + rng() % (rng() % 4 == 0 ? 90 : 20);
  p.codes.resize(static_cast<size_t>(d.k / 8 * d.n));
  for (auto& c : p.codes) c = static_cast<uint32_t>(rng());
  const auto scales = static_cast<size_t>(p.shape.groups() * d.n);
  for (size_t i = 0; i < scales; ++i) {
    const float size = std::ldexp(1.0f, -static_cast<int>(rng() % 20)) * (rng() % 2 ? 1.0f : -1.0f);
    p.f16_scales.push_back(f32_to_f16(size * (1.0f + static_cast<float>(rng() % 1000) / 1000.0f)));
    p.e8m0_scales.push_back(static_cast<uint8_t>(100 + rng() % 30));
  }
  for (int64_t i = 0; i < p.m * d.k; ++i) {
    uint8_t byte;
    do byte = static_cast<uint8_t>(rng());
    while ((byte & 0x7f) == kE4m3Nan);
    p.xq.push_back(byte);
  }
  for (int64_t m = 0; m < p.m; ++m) {
    p.x_scales.push_back(std::ldexp(1.0f + static_cast<float>(rng() % 100) / 100.0f, -8));
  }
  return p;
}

class Gemm : public ::testing::TestWithParam<CpuArch> {};

TEST_P(Gemm, MatchesAnFp64Sum) {
  CpuDevice device("cpu", GetParam(), 2);
  const auto backend = make_backend(device);
  std::mt19937 rng(20261129);
  for (int round = 0; round < 60; ++round) {
    const Problem p = make_problem(rng, round % 3 == 2 ? RADIANCE_MXFP4 : RADIANCE_AUTOROUND_INT4);
    Buffer packed(device, backend->packed_bytes(p.shape));
    backend->pack(p.shape, p.desc(), packed.get());
    Buffer workspace(device, backend->workspace_bytes(p.shape, p.m));
    device.fill(workspace.get(), 0xff, workspace.bytes(), nullptr);  // NaN wherever it is not set
    std::vector<float> y;
    for (const Plan& plan : backend->configs(p.shape, p.m)) {
      y.assign(static_cast<size_t>(p.m * p.shape.n), NAN);
      GemmCall call;
      call.m = p.m;
      call.xq = p.xq.data();
      call.x_scales = p.x_scales.data();
      call.y = y.data();
      call.y_dtype = RADIANCE_F32;
      call.ldy = p.shape.n;
      call.workspace = workspace.get();
      call.workspace_bytes = workspace.bytes();
      call.config = plan.config.c_str();
      backend->gemm(*packed.get<PackedHeader>(), packed.get(), call);
      for (int64_t m = 0; m < p.m; ++m) {
        for (int64_t n = 0; n < p.shape.n; ++n) {
          double sum = 0, size = 0;
          for (int64_t k = 0; k < p.shape.k; ++k) {
            const double x = e4m3_to_f32(p.xq[static_cast<size_t>(m * p.shape.k + k)]);
            sum += x * p.weight(n, k);
            size += std::abs(x * p.weight(n, k));
          }
          sum *= p.x_scales[static_cast<size_t>(m)];
          size *= p.x_scales[static_cast<size_t>(m)];
          // Stricter than the contract's bound, which takes 8 |scale x| for every product.
          const double bound = std::ldexp(std::abs(sum), -23) + std::ldexp(size, -19);
          ASSERT_NEAR(y[static_cast<size_t>(m * p.shape.n + n)], sum, bound)
              << plan.config << " m " << m << "/" << p.m << " n " << n << "/" << p.shape.n << " k "
              << p.shape.k << " group " << p.shape.group;
        }
      }
    }
  }
}

// A row's result does not depend on the other rows, whichever kernel their number selects: those
// that sum integers agree with each other, and those that sum floats.
TEST_P(Gemm, RowsDoNotDependOnTheBatch) {
  CpuDevice device("cpu", GetParam(), 2);
  const auto backend = make_backend(device);
  std::mt19937 rng(99);
  for (int round = 0; round < 20; ++round) {
    const Problem p = make_problem(rng, round % 2 ? RADIANCE_MXFP4 : RADIANCE_AUTOROUND_INT4);
    Buffer packed(device, backend->packed_bytes(p.shape));
    backend->pack(p.shape, p.desc(), packed.get());
    Buffer workspace(device, backend->workspace_bytes(p.shape, p.m));
    const auto run = [&](int64_t m0, int64_t m, const char* config) {
      std::vector<float> y(static_cast<size_t>(m * p.shape.n), NAN);
      GemmCall call;
      call.m = m;
      call.xq = p.xq.data() + m0 * p.shape.k;
      call.x_scales = p.x_scales.data() + m0;
      call.y = y.data();
      call.y_dtype = RADIANCE_F32;
      call.ldy = p.shape.n;
      call.workspace = workspace.get();
      call.workspace_bytes = workspace.bytes();
      call.config = config;
      backend->gemm(*packed.get<PackedHeader>(), packed.get(), call);
      return y;
    };
    const ArchKernels& kernels = arch_kernels(GetParam());
    std::vector<float> of_floats, of_integers;
    for (int i = 0; i < kernels.gemm_count; ++i) {
      const GemmKernel& kernel = kernels.gemm[i];
      const std::vector<float> all = run(0, p.m, kernel.name);
      for (int64_t m = 0; m < p.m; ++m) {
        const std::vector<float> alone = run(m, 1, kernel.name);
        for (size_t n = 0; n < alone.size(); ++n) {
          ASSERT_EQ(alone[n], all[static_cast<size_t>(m) * alone.size() + n]) << m << " " << n;
        }
      }
      const bool integers = kernel.form == RowForm::kDigits || kernel.form == RowForm::kWords;
      std::vector<float>& first = integers ? of_integers : of_floats;
      if (first.empty()) first = all;
      ASSERT_EQ(first, all) << kernel.name;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Archs, Gemm, ::testing::ValuesIn(supported_cpu_archs()),
                         [](const auto& arch) { return cpu_arch_name(arch.param); });

}  // namespace
}  // namespace radiance::cpu
