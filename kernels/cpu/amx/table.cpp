#include "kernels/cpu/avx512/kernels.hpp"
namespace radiance::cpu {
namespace {
int64_t no_scratch(int64_t, int64_t, int64_t) { return 0; }
}  // namespace
const ArchKernels kAmxKernels = {
    {"decode/avx512", RowForm::kBf16, 64, 24, no_scratch, avx512_decode},
    {"prefill/avx512", RowForm::kBf16, 512, 3, avx512_prefill_scratch_bytes, avx512_prefill},
    &kAvx512RowKernels,
    &kAvx512ProbeKernels};
}  // namespace radiance::cpu
