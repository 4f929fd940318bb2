#include "kernels/cpu/avx2/kernels.hpp"
#include "kernels/cpu/row_digits.hpp"

namespace radiance::cpu {
namespace {

// Three digit sums a row and group; 8 is the smallest group. The backend gives k for group here.
int64_t decode_scratch_bytes(int64_t m, int64_t k, int64_t group) {
  return m * ((k + group - 1) / group) * kDigits * 4;
}

}  // namespace

constinit const ArchKernels kAvx2Kernels = {
    {"decode/avx2", RowForm::kDigits, 64, 4, decode_scratch_bytes, avx2_decode},
    {"prefill/avx2", RowForm::kF32, 512, 1, avx2_prefill_scratch_bytes, avx2_prefill},
    &kAvx2RowKernels,
    &kAvx2ProbeKernels};

}  // namespace radiance::cpu
