// How an instruction family registers its opcodes.
//
// A family is one .cpp file with a constexpr array of Opcode and a function that returns it;
// families() in handlers.cpp lists those functions. The supported matrix is printed from the same
// tables.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "emulator/counters.hpp"
#include "emulator/instruction.hpp"

namespace radiance::emulator {

// How a constant operand is widened. The text has "1.0" or "0x3f800000" for any type.
enum class ConstantType : uint8_t {
  k32,    // bits of an f32, or an integer
  k16,    // bits of an f16, or an integer; in the low half (also for packed operands)
  kBf16,  // bits of a bf16
  kF64,   // bits of an f64; a 32-bit literal is its high dword
  kI64,   // integers: inline ones sign-extended; float constants as f64
};

enum OpcodeFlags : uint32_t {
  kNoFlags = 0,
  // The destination is a source too (fmac, d16 loads, v_swap, SWMMAC): strict mode checks it as
  // read.
  kReadsDestination = 1,
  // Copies its source: an undefined lane stays undefined instead of stopping the launch (a compiler
  // may move what it never uses).
  kMoves = 2,
  // The handler does its own strict checks and marks (readlane, memory families).
  kOwnStrictChecks = 4,
  kReadsScc = 8,
  kWritesScc = 16,
  kReadsVcc = 32,  // beyond the operands in the text
  kWritesVcc = 64,
  // Destination only with th:TH_ATOMIC_RETURN: the same mnemonic with and without result.
  kReturnsByModifier = 128,
  kOpSelHiZero = 256,  // op_sel_hi is none where the text does not say (fma_mix)
  kReadsExec = 512,
  kImmediate =
      1024,  // the last operand is an immediate of the encoding, also in Instruction::immediate
  kBranchTarget = 2048,  // the immediate is a distance in dwords behind the instruction
  kIgnoresExec = 4096,   // works on all lanes whatever EXEC says (readlane, WMMA)
  kWritesExec = 8192,
  // Everything behind the mnemonic is one immediate, perhaps written with names (s_delay_alu,
  // s_sendmsg).
  kSymbolicImmediate = 16384,
  // Compilers use it for a 32-bit multiply-add too and then leave the upper half of the addend (the
  // third source) undefined: so is the upper half of the result then, instead of a fault.
  kUpperAddendMayBeUndefined = 32768,
  // The last operand is a name that the handler reads from the text ("sendmsg(MSG_RTN_...)").
  kLastIsSymbolic = 65536,
};

struct Opcode {
  std::string_view mnemonic;  // without _e32, _e64, _dpp: one entry serves all encodings
  Handler execute = nullptr;
  OpClass opclass = OpClass::kVector;
  uint8_t destinations = 1;  // leading operands of the text that are written
  uint32_t flags = kNoFlags;
  std::array<ConstantType, 4> constants{};  // by source
  // Optional, after parsing: checks what the handler relies on and may pick a specialised
  // Instruction::execute. Returns null, or why the instruction is not supported.
  const char* (*prepare)(Instruction&) = nullptr;
};

struct Family {
  std::string_view name;  // "VOP1", "LDS", ...
  std::span<const Opcode> opcodes;
};

std::span<const Family> families();

// Null where no family has it.
const Opcode* find_opcode(std::string_view mnemonic);

// --- The families, one function a file
// -------------------------------------------------------------
std::span<const Opcode> scalar_opcodes();
std::span<const Opcode> scalar_float_opcodes();
std::span<const Opcode> control_opcodes();
std::span<const Opcode> smem_opcodes();
std::span<const Opcode> vector_integer_opcodes();
std::span<const Opcode> vector_integer64_opcodes();
std::span<const Opcode> vector_integer16_opcodes();
std::span<const Opcode> vector_float_opcodes();
std::span<const Opcode> vector_half_opcodes();
std::span<const Opcode> vector_double_opcodes();
std::span<const Opcode> vector_special_opcodes();
std::span<const Opcode> vector_convert_opcodes();
std::span<const Opcode> vector_compare_opcodes();
std::span<const Opcode> vector_packed_opcodes();
std::span<const Opcode> vector_lane_opcodes();
std::span<const Opcode> ds_opcodes();
std::span<const Opcode> ds_atomic_opcodes();
std::span<const Opcode> ds_permute_opcodes();
std::span<const Opcode> global_opcodes();
std::span<const Opcode> global_atomic_opcodes();
std::span<const Opcode> flat_opcodes();
std::span<const Opcode> scratch_opcodes();
std::span<const Opcode> matrix_opcodes();
std::span<const Opcode> fp8_opcodes();

}  // namespace radiance::emulator
