#include "lab/cublaslt.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <memory>

#include "lab/bench.hpp"
#include "lab/rivals.hpp"
#include "radiance/error.hpp"
#if __has_include(<cublasLt.h>)
#include <cublasLt.h>
#endif

namespace radiance::lab {
namespace {

using ::testing::HasSubstr;

Error error_of(const std::function<void()>& call) {
  try {
    call();
  } catch (const Error& error) {
    return error;
  }
  ADD_FAILURE() << "nothing was thrown";
  return Error(RADIANCE_OK, "");
}

TEST(CublasLt, AbsentIsOneSentence) {
  const Error error = error_of([] { cublaslt::load({"libnot_here.so.1", "libnor_here.so.2"}); });
  EXPECT_EQ(error.status(), RADIANCE_NO_DEVICE);
  EXPECT_STREQ(
      error.what(),
      "cuBLASLt (libnot_here.so.1 or libnor_here.so.2) is not here: install it, or name its "
      "folder in LD_LIBRARY_PATH, or leave the rivals out");
}

TEST(CublasLt, AnotherLibraryIsNamedWithWhatItLacks) {
  const Error error = error_of([] { cublaslt::load({"libnot_here.so.1", "libc.so.6"}); });
  EXPECT_EQ(error.status(), RADIANCE_NO_DEVICE);
  EXPECT_STREQ(error.what(), "libc.so.6 is not a cuBLASLt: it lacks cublasLtGetVersion");
}

TEST(CublasLt, RivalsNeedACudaDevice) {
  const Engine engine("cpu:portable", DeviceOptions{1});
  const Error error = error_of([&] { RivalLibrary{engine}; });
  EXPECT_EQ(error.status(), RADIANCE_INVALID_ARGUMENT);
  EXPECT_THAT(error.what(), HasSubstr("need --device cuda:N, not cpu:portable"));
}

// On a GPU: both rivals in the loop of both scopes, and times that arithmetic alone bounds.
TEST(CublasLt, RivalsAreTimedBesideOurs) {
  std::unique_ptr<Engine> engine;
  try {
    engine = std::make_unique<Engine>("cuda:0");
    cublaslt::load();
  } catch (const Error& error) {
    GTEST_SKIP() << "needs a Hopper GPU and cuBLASLt: " << error.what();
  }
  BenchOptions options;
  options.shapes = {bench_shape("2048x1024")};
  options.rows = {3, 128};
  options.formats = {RADIANCE_AUTOROUND_INT4};
  options.scopes = {Scope::kGemm, Scope::kOp};
  options.limits.samples = 5;
  options.rivals = true;
  const std::vector<BenchRow> rows = run_bench(*engine, options, {});
  ASSERT_EQ(rows.size(), 4U);
  for (const BenchRow& row : rows) {
    EXPECT_TRUE(row.replayed);
    EXPECT_EQ(row.samples, 5);
    EXPECT_GT(row.us, 0.5);
    EXPECT_LT(row.us, 500);
    ASSERT_EQ(row.rivals.size(), 2U);
    EXPECT_EQ(row.rivals[0].name, "cuBLASLt fp8");
    EXPECT_EQ(row.rivals[1].name, "cuBLASLt bf16");
    for (const RivalResult& rival : row.rivals) {
      EXPECT_GT(rival.us, 0.5);
      EXPECT_LT(rival.us, 500);
      EXPECT_GE(rival.candidates, 1);
      EXPECT_GE(rival.rows, row.m);
      EXPECT_NEAR(rival.ratio, row.us / rival.us, 0.3 * rival.ratio);
    }
  }
  EXPECT_EQ(rows[0].scope, Scope::kGemm);
  EXPECT_EQ(rows[1].scope, Scope::kOp);
  EXPECT_EQ(rows[1].m, 3) << "both scopes are timed in one loop";
}

// The values are facts of the header; where it is at hand, compare.
TEST(CublasLt, TypesAndValuesAreTheHeaders) {
#if __has_include(<cublasLt.h>)
  static_assert(sizeof(cublasLtMatmulHeuristicResult_t) == sizeof(cublaslt::Candidate));
  static_assert(offsetof(cublasLtMatmulHeuristicResult_t, state) ==
                offsetof(cublaslt::Candidate, state));
  static_assert(sizeof(cublasLtMatmulAlgo_t) == sizeof(cublaslt::Algorithm));
  EXPECT_EQ(CUBLASLT_MATMUL_DESC_TRANSA, cublaslt::kTransposeA);
  EXPECT_EQ(CUBLASLT_MATMUL_DESC_A_SCALE_POINTER, cublaslt::kScalePointerA);
  EXPECT_EQ(CUBLASLT_MATMUL_DESC_B_SCALE_POINTER, cublaslt::kScalePointerB);
  EXPECT_EQ(CUBLASLT_MATMUL_DESC_FAST_ACCUM, cublaslt::kFastAccumulation);
  EXPECT_EQ(CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, cublaslt::kMaxWorkspaceBytes);
  EXPECT_EQ(CUBLAS_COMPUTE_32F, cublaslt::kComputeF32);
  EXPECT_EQ(CUDA_R_32F, cublaslt::kF32);
  EXPECT_EQ(CUDA_R_16BF, cublaslt::kBf16);
  EXPECT_EQ(CUDA_R_8F_E4M3, cublaslt::kE4m3);
  EXPECT_EQ(CUBLAS_OP_T, cublaslt::kTransposed);
#else
  GTEST_SKIP() << "needs cublasLt.h";
#endif
}

}  // namespace
}  // namespace radiance::lab
