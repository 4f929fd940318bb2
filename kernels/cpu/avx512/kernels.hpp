// The AVX-512 BF16 kernels by name.
#pragma once

#include "kernels/cpu/gemm_kernel.hpp"

namespace radiance::cpu {

void avx512_decode(const GemmTask& task, int64_t tile_begin, int64_t tile_end, void* scratch);

void avx512_decode_vnni(const GemmTask& task, int64_t tile_begin, int64_t tile_end, void* scratch);

void avx512_decode_words(const GemmTask& task, int64_t tile_begin, int64_t tile_end, void* scratch);

void avx512_prefill_words(const GemmTask& task, int64_t tile_begin, int64_t tile_end,
                          void* scratch);
int64_t avx512_prefill_words_scratch_bytes(int64_t m, int64_t k, int64_t group);

void avx512_prefill(const GemmTask& task, int64_t tile_begin, int64_t tile_end, void* scratch);
int64_t avx512_prefill_scratch_bytes(int64_t m, int64_t k, int64_t group);

extern const RowKernels kAvx512RowKernels;
uint64_t avx512_stream_read(const uint8_t* data, int64_t bytes);

extern const PeakKernel kAvx512Bf16Peak;
extern const PeakKernel kAvx512DigitsPeak;
extern const PeakKernel kAvx512WordsPeak;

}  // namespace radiance::cpu
