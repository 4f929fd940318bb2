#include "kernels/cpu/avx512/kernels.hpp"

namespace radiance::cpu {
namespace {

constexpr GemmKernel kDecodeBytes = {
    "decode/vnni", 4, RowForm::kDigits, 64, 4, no_scratch, avx512_decode_vnni, &kAvx512DigitsPeak};
constexpr GemmKernel kDecode = {
    "decode/avx512", 8, RowForm::kBf16, 64, 24, no_scratch, avx512_decode, &kAvx512Bf16Peak};
constexpr GemmKernel kPrefill = {
    "prefill/avx512", kAnyM,           RowForm::kBf16, 512, 3, avx512_prefill_scratch_bytes,
    avx512_prefill,   &kAvx512Bf16Peak};

constexpr GemmKernel planned_up_to(GemmKernel kernel, int64_t m) {
  kernel.planned_m = m;
  return kernel;
}

// Up to 8 rows the codes are unpacked in registers once; every further pass of eight would unpack
// them again. Bytes take two vpdpbusd for 64 weights where bf16 takes two vdpbf16ps, but fewer
// instructions to unpack: with dots of equal cost they meet at 4 rows.
constexpr GemmKernel kGemm[] = {kDecodeBytes, kDecode, kPrefill};

constexpr GemmKernel kDecodeWords = {
    "decode/vnni16",  8, RowForm::kWords, 64, 12, no_scratch, avx512_decode_words,
    &kAvx512WordsPeak};
constexpr GemmKernel kPrefillWords = {"prefill/vnni16",
                                      kAnyM,
                                      RowForm::kWords,
                                      128,
                                      3,
                                      avx512_prefill_words_scratch_bytes,
                                      avx512_prefill_words,
                                      &kAvx512WordsPeak};

// Where a vdpbf16ps costs four vpdpwssd, integers win for any number of rows: 128 at a time, which
// stay in L2 as words. Bytes unpack in three instructions, words in six, which four rows still
// notice.
constexpr GemmKernel kSplitDotGemm[] = {kDecodeBytes, kDecodeWords, planned_up_to(kDecode, 8),
                                        kPrefillWords, kPrefill};

}  // namespace

constinit const ArchKernels kAvx512Kernels = {kGemm, 3, &kAvx512RowKernels, avx512_stream_read};
constinit const ArchKernels kAvx512SplitDotKernels = {kSplitDotGemm, 5, &kAvx512RowKernels,
                                                      avx512_stream_read};

}  // namespace radiance::cpu
