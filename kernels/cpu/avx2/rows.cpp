#include "kernels/cpu/avx2/kernels.hpp"
#include "kernels/cpu/row_kernels.hpp"

namespace radiance::cpu {

const RowKernels kAvx2RowKernels = {quantize_row, group_sums, expand_row};

}  // namespace radiance::cpu
