#include "emulator/matrix_math.hpp"

#include <span>

#include "emulator/matrix_kernels.hpp"

namespace radiance::emulator {

std::span<const MatrixInstruction> matrix_instructions() {
#if defined(RADIANCE_EMULATOR_AVX512)
  if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
      __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512dq")) {
    return {kAvx512MatrixInstructions, kMatrixInstructions};
  }
#endif
  return kInstructions;
}

const MatrixInstruction* find_matrix_instruction(std::string_view name) {
  for (const MatrixInstruction& instruction : matrix_instructions()) {
    if (name == instruction.name) return &instruction;
  }
  return nullptr;
}

}  // namespace radiance::emulator
