#include "kernels/cpu/avx512/kernels.hpp"
#include "kernels/cpu/row_kernels.hpp"

namespace radiance::cpu {

const RowKernels kAvx512RowKernels = {quantize_row, group_sums, expand_row};

}  // namespace radiance::cpu
