#include "kernels/gfx1201/ablations.hpp"

#include <gtest/gtest.h>

#include <set>

#include "tests/kernels/gfx1201/emulated_gemm.hpp"

namespace radiance::gfx1201 {
namespace {

constexpr WeightShape kShape{RADIANCE_AUTOROUND_INT4, 128, 512, 128};

bool found(const char* config, int64_t m, const WeightShape& shape = kShape,
           const Traits& traits = {}) {
  return find_ablation(config, shape, m, traits) != nullptr;
}

TEST(Gfx1201Ablations, AreKernelsOfTheirOwn) {
  const auto device = test::open_emulator(1);
  const Ablations ablations(dynamic_cast<HipDevice&>(*device));
  std::set<std::string> configs, functions;
  for (const AblationKernel& kernel : ablation_kernels()) {
    EXPECT_TRUE(configs.insert(kernel.config).second) << kernel.config;
    EXPECT_TRUE(functions.insert(kernel.function).second) << kernel.function;
    EXPECT_NO_THROW(ablations.function(kernel)) << kernel.function;
    // ablate/decode/r1/no_unpack is ablate_decode_r1_no_unpack, and a variant of decode or prefill.
    std::string name = kernel.config;
    for (char& c : name) c = c == '/' ? '_' : c;
    EXPECT_EQ(name, kernel.function);
    EXPECT_TRUE(std::string(kernel.config)
                    .starts_with(kernel.choice.kernel == Kernel::kDecode ? "ablate/decode/"
                                                                         : "ablate/prefill/"));
  }
}

TEST(Gfx1201Ablations, TakeTheRowsOfTheirKernel) {
  EXPECT_TRUE(found("ablate/decode/r1/no_unpack", 1));
  EXPECT_TRUE(found("ablate/decode/r1/no_unpack", 16));
  EXPECT_FALSE(found("ablate/decode/r1/no_unpack", 17));
  EXPECT_FALSE(found("ablate/decode/r3/spare_row_tile", 32));
  EXPECT_TRUE(found("ablate/decode/r3/spare_row_tile", 33));
  EXPECT_FALSE(found("ablate/decode/r3/spare_row_tile", 49));
  EXPECT_TRUE(found("ablate/decode/r1/dot2", 2));
  EXPECT_FALSE(found("ablate/decode/r1/dot2", 3));
  EXPECT_TRUE(found("ablate/prefill/n2/predicate", 1));
  EXPECT_TRUE(found("ablate/prefill/n2/predicate", 4096));
  EXPECT_FALSE(found("ablate/decode/r1/no_such", 1));
  EXPECT_FALSE(found(nullptr, 1));
}

TEST(Gfx1201Ablations, AreForInt4InGroupsOf128) {
  const char* config = "ablate/decode/r1/priority";
  EXPECT_TRUE(found(config, 1, {RADIANCE_AUTOROUND_INT4, 128, 512, 256}));
  EXPECT_FALSE(found(config, 1, {RADIANCE_AUTOROUND_INT4, 128, 512, 64}));
  EXPECT_FALSE(found(config, 1, {RADIANCE_AUTOROUND_INT4, 128, 520, 128}));
  EXPECT_FALSE(found(config, 1, {RADIANCE_MXFP4, 128, 512, 32}));
}

// As with the shipped kernels, whose bytes are subnormals.
TEST(Gfx1201Ablations, OfShippedKernelsNeedSubnormals) {
  const Traits flushes{64, false};
  EXPECT_TRUE(found("ablate/decode/r1/one_buffer", 1));
  EXPECT_FALSE(found("ablate/decode/r1/one_buffer", 1, kShape, flushes));
  EXPECT_TRUE(found("ablate/decode/r1/priority", 1, kShape, flushes));
}

}  // namespace
}  // namespace radiance::gfx1201
