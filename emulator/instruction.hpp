// One static instruction in executable form: which handler, which operands, which modifiers.
//
// decode.cpp makes it from LLVM's text once; executing it never looks at text or encoding again.
#pragma once

#include <array>
#include <cstdint>
#include <string>

#include "emulator/lanes.hpp"

namespace radiance::emulator {

struct Wave;
struct Instruction;
struct Opcode;

// Executes one instruction for the whole wave. wave.next already points behind the instruction; a
// branch changes it. A handler reports a failure by fault() (fault.hpp) and never changes state it
// must not.
using Handler = void (*)(const Instruction&, Wave&);

enum class OperandKind : uint8_t {
  kNone,      // "off", or no such operand
  kVgpr,      // index: first register
  kSgpr,      // index: registers.hpp, covers VCC, EXEC, M0, TTMP, SCC, null and the apertures
  kConstant,  // inline constant or literal, in value and lanes
  kBuffer,    // wave.permuted: the source of a DPP instruction after the permutation
};

struct Operand {
  OperandKind kind = OperandKind::kNone;
  uint8_t registers = 1;  // dwords the operand spans
  bool half = false;      // written as v0.l or v0.h: 16 bits of one VGPR
  bool high = false;      // v0.h
  bool negate = false;    // float sources, applied after absolute
  bool absolute = false;
  uint16_t index = 0;
  // A constant, in the type its opcode asks for: float constants as bits of a 16-, 32- or 64-bit
  // float, integers sign-extended to 64 bits.
  uint64_t value = 0;
  // The constant's low and high dword in all lanes (lanes[0], lanes[1]).
  const Lanes* lanes = nullptr;

  bool is_vgpr() const { return kind == OperandKind::kVgpr; }
  bool is_sgpr() const { return kind == OperandKind::kSgpr; }
  bool present() const { return kind != OperandKind::kNone; }
  bool modified() const { return negate || absolute; }
};

enum class DppKind : uint8_t {
  kNone,
  kDpp8,      // selectors: 3 bits a lane
  kQuadPerm,  // selectors: 2 bits a lane
  kRowShl,    // amount
  kRowShr,
  kRowRor,
  kRowMirror,
  kRowHalfMirror,
  kRowShare,
  kRowXmask,
};

// Where the memory system makes an access visible (ISA "scope").
enum class Scope : uint8_t { kWave, kWorkgroup, kDevice, kSystem };

// Bit i of the *_sel and neg masks belongs to source i; bit 3 of op_sel to the destination.
struct Modifiers {
  int32_t offset = 0;   // bytes: memory, SMEM and DS instructions
  uint8_t offset0 = 0;  // ds_*2addr*, in elements (the handler knows their size and stride)
  uint8_t offset1 = 0;
  bool clamp = false;
  uint8_t output_scale = 0;  // 0: none, 1: * 2, 2: * 4, 3: / 2
  uint8_t op_sel = 0;
  uint8_t op_sel_hi = 7;  // the text omits it where all are set; fma_mix: where none is
  uint8_t neg_lo = 0;
  uint8_t neg_hi = 0;
  uint8_t byte_sel = 0;   // fp8 conversions
  uint8_t index_key = 0;  // SWMMAC
  bool returns = false;   // th:TH_ATOMIC_RETURN: an atomic that returns the old value
  Scope scope = Scope::kWave;
  DppKind dpp = DppKind::kNone;
  uint8_t dpp_amount = 0;
  uint32_t dpp_selectors = 0;  // kDpp8: lane i in bits 3i..3i+2; kQuadPerm: bits 2i..2i+1
  uint8_t row_mask = 15;
  uint8_t bank_mask = 15;
  bool bound_ctrl = false;  // an invalid source lane reads zero (else the lane is not written)
  bool fetch_inactive = false;
};

// What strict mode does before and after an instruction: nothing (there is nothing to check, or the
// handler does it), reads and writes of its operands alone, or all that its opcode's flags may ask.
enum class StrictChecks : uint8_t { kNone, kOperands, kAll };

struct Instruction {
  Handler execute = nullptr;
  const Opcode* opcode =
      nullptr;  // null: LLVM or the emulator knows none; execute stops the launch
  uint64_t address = 0;
  uint8_t bytes = 4;
  uint8_t opclass = 0;  // OpClass, copied from the opcode
  uint8_t destinations = 0;
  uint8_t sources = 0;
  StrictChecks strict_checks = StrictChecks::kNone;
  bool ignores_exec = false;
  std::array<Operand, 2> dst;
  std::array<Operand, 4> src;
  Modifiers mod;
  // The 16-bit immediate of SOPK, SOPP and waits ("s_wait_dscnt 0x2", "s_nop 3"), else zero.
  uint32_t immediate = 0;
  // A direct branch's destination; null where it leaves the decoded code (target_address says where
  // to).
  const Instruction* target = nullptr;
  uint64_t target_address = 0;
  // VOPD: the Y half. The X half is this instruction's own operands and `first`'s handler.
  const Instruction* first = nullptr;
  const Instruction* second = nullptr;
  // The base handler that a wrapper in execute (DPP, clamp) calls.
  Handler inner = nullptr;
  const char* text = "";  // as LLVM prints it; lives as long as the program
};

}  // namespace radiance::emulator
