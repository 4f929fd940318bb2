#include "kernels/cpu/amx/kernels.hpp"
#include "kernels/cpu/avx512/kernels.hpp"

namespace radiance::cpu {

constinit const ArchKernels kAmxKernels = {
    {"decode/amx", RowForm::kBf16, 64, 4, amx_decode_scratch_bytes, amx_decode},
    {"prefill/amx", RowForm::kBf16, 512, 12, amx_prefill_scratch_bytes, amx_prefill},
    &kAvx512RowKernels,
    &kAmxProbeKernels};

}  // namespace radiance::cpu
