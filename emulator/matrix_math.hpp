// The arithmetic of WMMA and SWMMAC on whole registers of a wave.
//
// Documented: products and sums in fp32 for floating-point types with an fp32 result, exact
// integers for iu8 and iu4 (clamp saturates to signed 32 bits, without it the result wraps);
// neg_lo[0] and neg_hi[0] negate the even and odd k of a 16-bit A, [1] of B; on C neg_lo[2]
// negates, neg_hi[2] takes the magnitude first; for iu types neg_lo[0] and [1] say that A or B is
// signed. EXEC is ignored.
//
// Assumed, and no gate may depend on it: the sum starts from C and adds one product after the other
// in ascending k, each addition rounded to nearest even, with subnormals kept (the products of
// 8-bit and of fp16 elements are exact in fp32); a 16-bit result is such an fp32 sum rounded once.
#pragma once

#include <cstddef>
#include <span>
#include <string_view>

#include "numerics/host_device.hpp"

namespace radiance::emulator {

// One vector register: a word a lane.
using RegisterRow = u32[32];

struct MatrixOperands {
  RegisterRow* d;
  const RegisterRow* a;
  const RegisterRow* b;
  const RegisterRow* c;                // d's registers for SWMMAC
  const RegisterRow* index = nullptr;  // SWMMAC only
};

struct MatrixModifiers {
  u8 neg_lo = 0;  // bit i: operand i of A, B, C
  u8 neg_hi = 0;
  bool clamp = false;
  u8 index_key = 0;
};

struct MatrixInstruction {
  const char* name;  // as the disassembler prints it
  u8 a_registers, b_registers, c_registers;
  bool sparse;
  void (*run)(const MatrixOperands&, const MatrixModifiers&);
};

inline constexpr size_t kMatrixInstructions = 22;

// Every WMMA and SWMMAC of gfx1201, kMatrixInstructions of them.
std::span<const MatrixInstruction> matrix_instructions();

// The same, for AVX-512; matrix_instructions() returns these where the processor has it.
extern const MatrixInstruction* const kAvx512MatrixInstructions;

// nullptr where there is no such instruction.
const MatrixInstruction* find_matrix_instruction(std::string_view name);

}  // namespace radiance::emulator
