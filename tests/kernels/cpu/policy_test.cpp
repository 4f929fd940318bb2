#include "kernels/cpu/policy.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace radiance::cpu {
namespace {

constexpr CpuArch kAll[] = {CpuArch::kPortable, CpuArch::kAvx2, CpuArch::kAvx512, CpuArch::kAmx};

TEST(Policy, FewRowsDecodeManyPrefill) {
  const WeightShape shape{RADIANCE_AUTOROUND_INT4, 5120, 5120, 128};
  for (const CpuArch arch : kAll) {
    EXPECT_TRUE(plans(arch, shape, 1).front().config.starts_with("decode/"));
    EXPECT_TRUE(plans(arch, shape, 512).front().config.starts_with("prefill/"));
    const ArchKernels& kernels = arch_kernels(arch);
    // The first kernel whose limit holds m; one with the same limit as another before it is there
    // to be asked for by name.
    for (int i = 0, first = 0; i + 1 < kernels.gemm_count; ++i) {
      const int64_t limit = kernels.gemm[i].planned_m;
      EXPECT_EQ(plans(arch, shape, limit).front().config, kernels.gemm[first].name);
      if (kernels.gemm[i + 1].planned_m == limit) continue;
      first = i + 1;
      EXPECT_EQ(plans(arch, shape, limit + 1).front().config, kernels.gemm[first].name);
    }
    EXPECT_EQ(kernels.gemm[kernels.gemm_count - 1].planned_m, kAnyM);
  }
}

TEST(Policy, ThePlanIsWhatRuns) {
  const WeightShape shape{RADIANCE_MXFP4, 64, 64, 32};
  for (const CpuArch arch : kAll) {
    for (const int64_t m : {1, 2, 3, 8, 9, 16, 17, 64, 65, 1000}) {
      const auto all = plans(arch, shape, m);
      ASSERT_EQ(all.size(), static_cast<size_t>(arch_kernels(arch).gemm_count));
      EXPECT_EQ(choose_kernel(arch, m, nullptr).name, all[0].config);
      for (const Plan& plan : all) {
        EXPECT_EQ(choose_kernel(arch, m, plan.config.c_str()).name, plan.config);
        EXPECT_THAT(plan.reason, ::testing::HasSubstr(std::to_string(m) + " rows of 64x64"));
      }
    }
  }
}

TEST(Policy, AnUnknownConfigurationIsRefused) {
  try {
    choose_kernel(CpuArch::kAvx2, 1, "decode/sse9");
    FAIL() << "accepted";
  } catch (const Error& error) {
    EXPECT_EQ(error.status(), RADIANCE_INVALID_ARGUMENT);
    EXPECT_THAT(error.what(), ::testing::HasSubstr("decode/avx2"));
  }
}

}  // namespace
}  // namespace radiance::cpu
