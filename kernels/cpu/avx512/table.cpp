#include "kernels/cpu/avx512/kernels.hpp"

namespace radiance::cpu {
namespace {

// Up to 8 rows the codes are unpacked in registers once; every further pass of eight would unpack
// them again. Up to 4, bytes beat bf16: three vpdpbusd do 64 weights, for which vdpbf16ps takes two
// instructions that cost four issue slots each on Sapphire Rapids (gate_up at 4 rows: 2.7 ms
// against 5.8). There they do beyond, too; where a vdpbf16ps takes one slot, as on Zen 4, they meet
// at 4.
constexpr GemmKernel kGemm[] = {
    {"decode/vnni", 4, RowForm::kDigits, 64, 4, no_scratch, avx512_decode_vnni, &kAvx512DigitsPeak},
    {"decode/avx512", 8, RowForm::kBf16, 64, 24, no_scratch, avx512_decode, &kAvx512Bf16Peak},
    {"prefill/avx512", kAnyM, RowForm::kBf16, 512, 3, avx512_prefill_scratch_bytes, avx512_prefill,
     &kAvx512Bf16Peak}};

}  // namespace

constinit const ArchKernels kAvx512Kernels = {kGemm, 3, &kAvx512RowKernels, avx512_stream_read};

}  // namespace radiance::cpu
