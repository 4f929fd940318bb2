// The AMX kernels by name.
#pragma once

#include "kernels/cpu/gemm_kernel.hpp"

namespace radiance::cpu {

void amx_decode(const GemmTask& task, int64_t tile_begin, int64_t tile_end, void* scratch);
int64_t amx_decode_scratch_bytes(int64_t m, int64_t k, int64_t group);

void amx_prefill(const GemmTask& task, int64_t tile_begin, int64_t tile_end, void* scratch);
int64_t amx_prefill_scratch_bytes(int64_t m, int64_t k, int64_t group);

extern const PeakKernel kAmxPeak;

}  // namespace radiance::cpu
