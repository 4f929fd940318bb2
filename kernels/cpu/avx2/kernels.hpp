// The AVX2 kernels by name.
#pragma once

#include "kernels/cpu/gemm_kernel.hpp"

namespace radiance::cpu {

void avx2_decode(const GemmTask& task, int64_t tile_begin, int64_t tile_end, void* scratch);

// Needs AVX-VNNI.
void avx2_decode_vnni(const GemmTask& task, int64_t tile_begin, int64_t tile_end, void* scratch);

void avx2_prefill(const GemmTask& task, int64_t tile_begin, int64_t tile_end, void* scratch);
int64_t avx2_prefill_scratch_bytes(int64_t m, int64_t k, int64_t group);

extern const RowKernels kAvx2RowKernels;
uint64_t avx2_stream_read(const uint8_t* data, int64_t bytes);

extern const PeakKernel kAvx2FmaPeak;
extern const PeakKernel kAvx2DigitsPeak;
extern const PeakKernel kAvx2VnniDigitsPeak;  // needs AVX-VNNI

}  // namespace radiance::cpu
