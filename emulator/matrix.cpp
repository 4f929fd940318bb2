// WMMA and SWMMAC: registers in, registers out; the arithmetic is in matrix_math.cpp.
#include <array>
#include <utility>

#include "emulator/handlers.hpp"
#include "emulator/matrix_math.hpp"
#include "emulator/vector_operands.hpp"
#include "emulator/workgroup.hpp"

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

// ---- a matrix unit that flushes subnormal 8-bit floats (LaunchOptions::flush_fp8) ----

constexpr uint32_t kEveryByte = 0x01010101;

// The exponent's bits in every byte of A (operand 0) or B, zero where it is no 8-bit float.
uint32_t exponent_bits(std::string_view instruction, int operand) {
  const auto ends = [instruction](std::string_view a, std::string_view b) {
    return instruction.size() > a.size() + b.size() && instruction.ends_with(b) &&
           instruction.substr(0, instruction.size() - b.size()).ends_with(a);
  };
  for (const bool a_fp8 : {true, false}) {
    for (const bool b_fp8 : {true, false}) {
      if (!ends(a_fp8 ? "_fp8" : "_bf8", b_fp8 ? "_fp8" : "_bf8")) continue;
      return kEveryByte * ((operand == 0 ? a_fp8 : b_fp8) ? 0x78 : 0x7c);
    }
  }
  return 0;
}

// Registers with zeros, of their sign, where a byte's exponent is zero.
const RegisterRow* flushed(const RegisterRow* from, int registers, uint32_t exponents,
                           RegisterRow* to) {
  for (int r = 0; r < registers; ++r) {
    for (int lane = 0; lane < kLanes; ++lane) {
      const uint32_t word = from[r][lane];
      const uint32_t normal = ((word & exponents) + 0x7f * kEveryByte) >> 7 & kEveryByte;
      to[r][lane] = word & (normal * 0xff | 0x80 * kEveryByte);
    }
  }
  return to;
}

void run_flushed(const MatrixInstruction& instruction, MatrixOperands operands,
                 const MatrixModifiers& modifiers) {
  const uint32_t a_exponents = exponent_bits(instruction.name, 0);
  alignas(64) RegisterRow a[8], b[8];
  if (a_exponents != 0) {
    operands.a = flushed(operands.a, instruction.a_registers, a_exponents, a);
    operands.b =
        flushed(operands.b, instruction.b_registers, exponent_bits(instruction.name, 1), b);
  }
  instruction.run(operands, modifiers);
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
  if (wave.group->flush_fp8) {
    run_flushed(instruction, operands, modifiers);
  } else {
    instruction.run(operands, modifiers);
  }
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
