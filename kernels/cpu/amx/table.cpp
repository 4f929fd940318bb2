#include "kernels/cpu/gemm_kernel.hpp"
namespace radiance::cpu {
const ArchKernels kAmxKernels = kAvx512Kernels;
}
