// Compiled for AVX-512; matrix_math.cpp asks the processor.
#include "emulator/matrix_kernels.hpp"

namespace radiance::emulator {

constinit const MatrixInstruction* const kAvx512MatrixInstructions = kInstructions;

}  // namespace radiance::emulator
