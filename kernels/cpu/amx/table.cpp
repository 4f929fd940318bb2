#include "kernels/cpu/amx/kernels.hpp"
#include "kernels/cpu/avx512/kernels.hpp"

namespace radiance::cpu {
namespace {

// One A tile holds 16 rows.
constexpr GemmKernel kGemm[] = {
    {"decode/vnni", 4, RowForm::kDigits, 64, 4, no_scratch, avx512_decode_vnni, &kAvx512DigitsPeak},
    {"decode/amx", 16, RowForm::kBf16, 64, 4, amx_decode_scratch_bytes, amx_decode, &kAmxPeak},
    {"prefill/amx", kAnyM, RowForm::kBf16, 512, 12, amx_prefill_scratch_bytes, amx_prefill,
     &kAmxPeak}};

}  // namespace

constinit const ArchKernels kAmxKernels = {kGemm, 3, &kAvx512RowKernels, avx512_stream_read};

}  // namespace radiance::cpu
