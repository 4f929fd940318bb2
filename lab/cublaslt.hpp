// cuBLASLt's functions, found at run time: nothing is linked, and building needs no CUDA toolkit.
//
// Types and values are those of cublasLt.h, written out; tests/lab/cublaslt_test.cpp compares them
// with the header where one is installed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace radiance::lab::cublaslt {

using Status = int;  // cublasStatus_t; 0 is success
struct Handle_;
struct MatmulDesc_;
struct MatrixLayout_;
struct Preference_;
using Handle = Handle_*;
using MatmulDesc = MatmulDesc_*;
using MatrixLayout = MatrixLayout_*;
using Preference = Preference_*;

// cublasLtMatmulAlgo_t
struct Algorithm {
  uint64_t data[8];
};

// cublasLtMatmulHeuristicResult_t
struct Candidate {
  Algorithm algorithm;
  size_t workspace_bytes;
  Status state;
  float waves;
  int reserved[4];
};
static_assert(sizeof(Candidate) == 96);

// cudaDataType
constexpr int kF32 = 0, kBf16 = 14, kE4m3 = 28;
// cublasComputeType_t
constexpr int kComputeF32 = 68;
// cublasOperation_t
constexpr int32_t kTransposed = 1;
// cublasLtMatmulDescAttributes_t
constexpr int kTransposeA = 3, kScalePointerA = 17, kScalePointerB = 18, kFastAccumulation = 25;
// cublasLtMatmulPreferenceAttributes_t
constexpr int kMaxWorkspaceBytes = 1;

struct Library {
  size_t (*version)();
  const char* (*status_string)(Status);
  Status (*create)(Handle*);
  Status (*destroy)(Handle);
  Status (*desc_create)(MatmulDesc*, int compute, int scale_type);
  Status (*desc_destroy)(MatmulDesc);
  Status (*desc_set)(MatmulDesc, int attribute, const void*, size_t);
  Status (*layout_create)(MatrixLayout*, int type, uint64_t rows, uint64_t columns, int64_t ld);
  Status (*layout_destroy)(MatrixLayout);
  Status (*preference_create)(Preference*);
  Status (*preference_destroy)(Preference);
  Status (*preference_set)(Preference, int attribute, const void*, size_t);
  Status (*heuristic)(Handle, MatmulDesc, MatrixLayout a, MatrixLayout b, MatrixLayout c,
                      MatrixLayout d, Preference, int wanted, Candidate*, int* found);
  Status (*matmul)(Handle, MatmulDesc, const void* alpha, const void* a, MatrixLayout,
                   const void* b, MatrixLayout, const void* beta, const void* c, MatrixLayout,
                   void* d, MatrixLayout, const Algorithm*, void* workspace, size_t bytes,
                   void* stream);
};

// The first of the libraries that is there. Throws Error (no device) that names them, or what the
// one found lacks.
Library load(const std::vector<std::string>& names = {"libcublasLt.so.13", "libcublasLt.so.12"});

// Throws Error (device error) with the library's own words and `doing` unless status is success.
void check(const Library& library, Status status, const char* doing);

}  // namespace radiance::lab::cublaslt
