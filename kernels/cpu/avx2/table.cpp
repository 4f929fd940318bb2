#include "kernels/cpu/avx2/kernels.hpp"

namespace radiance::cpu {
namespace {

// A row costs decode 2 or 3 byte multiply-adds a weight: from 3 rows on fp32 FMA is cheaper.
constexpr GemmKernel kGemm[] = {
    {"decode/avx2", 2, RowForm::kDigits, 64, 4, no_scratch, avx2_decode, &kAvx2DigitsPeak},
    {"prefill/avx2", kAnyM, RowForm::kF32, 256, 3, avx2_prefill_scratch_bytes, avx2_prefill,
     &kAvx2FmaPeak}};

constexpr GemmKernel kGemmVnni[] = {{"decode/avxvnni", 2, RowForm::kDigits, 64, 4, no_scratch,
                                     avx2_decode_vnni, &kAvx2VnniDigitsPeak},
                                    kGemm[0],
                                    kGemm[1]};

}  // namespace

constinit const ArchKernels kAvx2VnniKernels = {kGemmVnni, 3, &kAvx2RowKernels, avx2_stream_read};

constinit const ArchKernels kAvx2Kernels = {kGemm, 2, &kAvx2RowKernels, avx2_stream_read};

}  // namespace radiance::cpu
