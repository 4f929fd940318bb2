// WMMA and SWMMAC: registers in, registers out; the arithmetic is in matrix_math.cpp.
#include <array>
#include <utility>

#include "emulator/handlers.hpp"
#include "emulator/matrix_math.hpp"
#include "emulator/vector_operands.hpp"

namespace radiance::emulator {
namespace {

const RegisterRow* rows(const Wave& wave, const Operand& operand) {
  return &wave.vgpr[operand.index].v;
}

// A constant C in every register; of a 16-bit type in both halves.
void fill_constant(const Operand& operand, bool packed, RegisterRow* out, int registers) {
  auto value = static_cast<uint32_t>(operand.value);
  if (packed) value = (value & 0xffffu) | value << 16;
  for (int r = 0; r < registers; ++r) {
    for (uint32_t& lane : out[r]) lane = value;
  }
}

// One function an instruction of the table, so that nothing is looked up when it runs.
template <size_t kIndex>
void matrix(const Instruction& in, Wave& wave) {
  static const MatrixInstruction& instruction = matrix_instructions()[kIndex];
  // Rounds to nearest whatever MODE says.
  const bool plain = wave.mode.round32() == 0;
  if (!plain) Rounding64::set(0);
  const MatrixModifiers modifiers{in.mod.neg_lo, in.mod.neg_hi, in.mod.clamp, in.mod.index_key};
  MatrixOperands operands{&wave.vgpr[in.dst[0].index].v, rows(wave, in.src[0]),
                          rows(wave, in.src[1]), nullptr};
  alignas(64) RegisterRow constant[8];
  if (instruction.sparse) {
    operands.c = operands.d;
    operands.index = rows(wave, in.src[2]);
  } else if (in.src[2].is_vgpr()) {
    operands.c = rows(wave, in.src[2]);
  } else {
    fill_constant(in.src[2], instruction.c_registers == 4, constant, instruction.c_registers);
    operands.c = constant;
  }
  instruction.run(operands, modifiers);
  if (!plain) Rounding64::set(wave.mode.round32());
}

const char* registers_fit(Instruction& in) {
  const MatrixInstruction& wanted = *find_matrix_instruction(mnemonic_of(in));
  const auto spans = [](const Operand& o, unsigned n) { return o.is_vgpr() && o.registers == n; };
  if (in.sources != 3 || !spans(in.dst[0], wanted.c_registers) ||
      !spans(in.src[0], wanted.a_registers) || !spans(in.src[1], wanted.b_registers)) {
    return "operands of a matrix instruction";
  }
  const Operand& last = in.src[2];
  const bool constant = last.kind == OperandKind::kConstant && !wanted.sparse;
  if (!constant && !spans(last, wanted.sparse ? 1 : wanted.c_registers)) {
    return "operands of a matrix instruction";
  }
  return nullptr;
}

constexpr ConstantType constant_type(std::string_view name) {
  return name.find("wmma_f16") != std::string_view::npos    ? ConstantType::k16
         : name.find("wmma_bf16") != std::string_view::npos ? ConstantType::kBf16
                                                            : ConstantType::k32;
}

template <size_t... kIndices>
std::array<Opcode, sizeof...(kIndices)> make_opcodes(std::index_sequence<kIndices...>) {
  const auto entry = [](size_t i, Handler handler) {
    const MatrixInstruction& m = matrix_instructions()[i];
    const uint32_t reads = m.sparse ? kReadsDestination : kNoFlags;
    Opcode out{m.name, handler, OpClass::kMatrix, 1, kIgnoresExec | reads, {}, registers_fit};
    out.constants[2] = constant_type(m.name);
    return out;
  };
  return {entry(kIndices, matrix<kIndices>)...};
}

}  // namespace

std::span<const Opcode> matrix_opcodes() {
  static const auto opcodes = make_opcodes(std::make_index_sequence<kMatrixInstructions>());
  return opcodes;
}

}  // namespace radiance::emulator
