#include "kernels/cpu/avx512/kernels.hpp"

namespace radiance::cpu {
namespace {

// Up to 8 rows the codes are unpacked in registers once; every further pass of eight would unpack
// them again. Up to 2, bytes beat bf16: three vpdpbusd do 64 weights, for which vdpbf16ps takes two
// instructions that cost four issue slots each on Sapphire Rapids.
constexpr GemmKernel kGemm[] = {
    {"decode/vnni", 2, RowForm::kDigits, 64, 4, no_scratch, avx512_decode_vnni},
    {"decode/avx512", 8, RowForm::kBf16, 64, 24, no_scratch, avx512_decode},
    {"prefill/avx512", kAnyM, RowForm::kBf16, 512, 3, avx512_prefill_scratch_bytes,
     avx512_prefill}};

}  // namespace

constinit const ArchKernels kAvx512Kernels = {kGemm, 3, &kAvx512RowKernels, &kAvx512ProbeKernels};

}  // namespace radiance::cpu
