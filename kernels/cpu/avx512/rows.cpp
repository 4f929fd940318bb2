#include "kernels/cpu/avx2/expand_integers.hpp"
#include "kernels/cpu/avx512/kernels.hpp"
#include "kernels/cpu/row_kernels.hpp"

namespace radiance::cpu {
namespace {

void expand(const u8* xq, int64_t k, int64_t group, RowForm form, u8* row) {
  if (form == RowForm::kDigits) {
    expand_integers_by_eight<RowForm::kDigits>(xq, k, group, row);
  } else if (form == RowForm::kWords) {
    expand_integers_by_eight<RowForm::kWords>(xq, k, group, row);
  } else {
    expand_row(xq, k, group, form, row);
  }
}

}  // namespace

const RowKernels kAvx512RowKernels = {quantize_row, group_sums, expand};

}  // namespace radiance::cpu
