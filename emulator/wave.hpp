// The state of one wave and how handlers read and write it.
#pragma once

#include <cstdint>
#include <memory>
#include <string_view>

#include "emulator/counters.hpp"
#include "emulator/fault.hpp"
#include "emulator/instruction.hpp"
#include "emulator/lanes.hpp"
#include "emulator/registers.hpp"
#include "emulator/strict.hpp"

namespace radiance::emulator {

class Workgroup;
class MemoryView;
class Program;

enum class RunState : uint8_t {
  kRunning,
  kAtBarrier,  // waits for the other waves; `next` is the s_barrier_wait, which runs again
  kEnded,
};

// MODE, hwreg 1: bits 1:0 f32 rounding, 3:2 f64 and f16 rounding, 5:4 f32 denormals, 7:6 f64 and
// f16 denormals (bit 0: inputs kept, bit 1: outputs kept). Rounding: 0 nearest even, 1 up, 2 down,
// 3 to zero.
struct Mode {
  uint32_t bits = 0xf0;
  unsigned round32() const { return bits & 3; }
  unsigned round64() const { return bits >> 2 & 3; }
  unsigned denormals32() const { return bits >> 4 & 3; }
  unsigned denormals64() const { return bits >> 6 & 3; }
  // Nothing to do but what the host does by default.
  bool plain() const { return (bits & 0xff) == 0xf0; }
};

struct Wave {
  alignas(64) Lanes vgpr[kVectorRegisters];
  alignas(64) Lanes permuted;  // OperandKind::kBuffer
  uint32_t sgpr[kScalarRegisters];
  const Instruction* next = nullptr;
  const Instruction* current = nullptr;  // set when a fault stops the wave: which instruction
  RunState state = RunState::kRunning;
  Mode mode;

  Workgroup* group = nullptr;
  MemoryView* memory = nullptr;         // checked global memory
  const Program* program = nullptr;     // for indirect branches
  Counters* counters = nullptr;         // of the thread that runs the workgroup
  std::unique_ptr<StrictState> strict;  // null: no checks

  uint8_t* scratch = nullptr;  // kLanes * scratch_bytes bytes, lane by lane
  uint32_t scratch_bytes = 0;  // a lane
  uint32_t index = 0;          // of this wave in its workgroup
  uint32_t launched_lanes =
      kAllLanes;              // EXEC at the start: the last wave of a workgroup may be short
  uint64_t instructions = 0;  // executed so far, against the budget
  uint64_t budget = ~0ull;
  uint32_t barrier_phase = 0;   // barriers this wave has signalled
  uint32_t barrier_passed = 0;  // barriers this wave has waited for

  uint32_t exec() const { return sgpr[kExecLo]; }
  void set_exec(uint32_t lanes) { sgpr[kExecLo] = lanes; }
  uint32_t vcc() const { return sgpr[kVccLo]; }
  uint32_t& scc() { return sgpr[kScc]; }
  uint32_t m0() const { return sgpr[kM0]; }

  // A source's dword `part` in all lanes: the register itself, or `buffer` filled with the scalar.
  // Halves and negation are not applied: see value_sources.hpp for the typed reads of arithmetic.
  const Lanes& lanes(const Operand& operand, Lanes& buffer, int part = 0) const {
    switch (operand.kind) {
      case OperandKind::kVgpr:
        return vgpr[operand.index + part];
      case OperandKind::kConstant:
        return operand.lanes[part];
      case OperandKind::kBuffer:
        return permuted;
      default:
        break;
    }
    const uint32_t value = scalar(operand, part);
    for (int i = 0; i < kLanes; ++i) buffer.v[i] = value;
    return buffer;
  }

  // Dword `part` of a scalar source.
  uint32_t scalar(const Operand& operand, int part = 0) const {
    if (operand.kind == OperandKind::kSgpr) {
      // null has only one register of its own: all its dwords read zero.
      return operand.index == kNull ? 0 : sgpr[operand.index + part];
    }
    return static_cast<uint32_t>(operand.value >> (32 * part));
  }
  uint64_t scalar64(const Operand& operand) const {
    return scalar(operand, 0) | static_cast<uint64_t>(scalar(operand, 1)) << 32;
  }

  void set_scalar(const Operand& operand, uint32_t value, int part = 0) {
    sgpr[operand.index + part] = value;
  }
  void set_scalar64(const Operand& operand, uint64_t value) {
    sgpr[operand.index] = static_cast<uint32_t>(value);
    sgpr[operand.index + 1] = static_cast<uint32_t>(value >> 32);
  }

  // Writes the active lanes of a destination VGPR.
  void store(const Operand& operand, const Lanes& value, int part = 0) {
    store_lanes(operand.index + part, value, exec());
  }
  void store_lanes(unsigned reg, const Lanes& value, uint32_t active) {
    Lanes& d = vgpr[reg];
    if (active == kAllLanes) {
      d = value;
      return;
    }
    for (int i = 0; i < kLanes; ++i) {
      const uint32_t m = 0u - (active >> i & 1u);
      d.v[i] = (value.v[i] & m) | (d.v[i] & ~m);
    }
  }
};

// What a fault's message needs to say where: "lane 5" is the caller's.
inline std::string_view mnemonic_of(const Instruction& instruction) {
  const std::string_view text = instruction.text;
  return text.substr(0, text.find(' '));
}

}  // namespace radiance::emulator
