// The shadow state of one wave in strict mode: what has been written, and what has been asked of
// memory but not been waited for.
//
// Memory instructions are executed when they are issued; that their result is not there yet exists
// only here. Each counter (loadcnt, dscnt, ...) numbers its operations 1, 2, ... as they are
// issued; `completed` is the number up to which a wait has proved them done. A register is readable
// once the operation that fills it is completed. s_wait_dscnt n proves all but the last n issued,
// because LDS and vector memory return in order within a type; kmcnt (SMEM returns out of order)
// proves something only at n = 0.
#pragma once

#include <array>
#include <bitset>
#include <cstdint>

#include "emulator/instruction.hpp"
#include "emulator/registers.hpp"

namespace radiance::emulator {

enum class Counter : uint8_t { kLoad, kStore, kDs, kKm, kSample, kBvh, kExp, kCount };
constexpr size_t kCounters = static_cast<size_t>(Counter::kCount);
const char* name(Counter counter);  // "loadcnt", ...

using Sequence = uint32_t;

// An outstanding result. Flat loads may come from LDS or memory, so they wait on two counters.
struct Pending {
  std::array<Sequence, kCounters> until{};  // 0: nothing outstanding on that counter
  const Instruction* by = nullptr;
};

struct StrictState {
  std::array<Sequence, kCounters> issued{};
  std::array<Sequence, kCounters> completed{};

  // Lanes of each VGPR that hold a value. Any write counts, also one of a 16-bit half: compilers
  // leave the other half undefined and ignore it.
  std::array<uint32_t, kVectorRegisters> vgpr_written{};
  std::bitset<kScalarRegisters> sgpr_written;
  std::array<Pending, kVectorRegisters> vgpr_pending{};
  std::array<Pending, kScalarRegisters> sgpr_pending{};

  // Registers a wave is launched with, and those that read as constants, are written; the rest is
  // not.
  void reset();

  // Issues one operation on `counter` and returns its number.
  Sequence issue(Counter counter) { return ++issued[static_cast<size_t>(counter)]; }
  void wait(Counter counter, uint32_t left);
  bool is_complete(Counter counter, Sequence sequence) const {
    return completed[static_cast<size_t>(counter)] >= sequence;
  }

  // Marks registers as filled by an operation just issued on `counter`: readable after the wait.
  void pend_vgprs(const Instruction& by, uint16_t first, unsigned count, uint32_t lanes,
                  Counter counter, Sequence sequence);
  void pend_sgprs(const Instruction& by, uint16_t first, unsigned count, Counter counter,
                  Sequence sequence);

  // Faults unless the registers are written in `lanes` and not outstanding.
  void check_vgprs(const Instruction& at, unsigned first, unsigned count, uint32_t lanes) const {
    // Without a branch a register; eight, a matrix, are two vectors.
    uint32_t bad = 0;
    if (count == 8) {
      for (unsigned i = 0; i < 8; ++i) {
        bad |= (lanes & ~vgpr_written[first + i]) | vgpr_busy_[first + i];
      }
    } else {
      for (unsigned i = first; i < first + count; ++i) {
        bad |= (lanes & ~vgpr_written[i]) | vgpr_busy_[i];
      }
    }
    if (bad != 0) check_each_vgpr(at, first, count, lanes);
  }
  void check_sgprs(const Instruction& at, unsigned first, unsigned count) const {
    for (unsigned i = first; i < first + count; ++i) {
      if (sgpr_busy_[i] || !sgpr_written.test(i)) check_sgpr(at, i);
    }
  }
  // Faults where a result is outstanding for a register that `at` overwrites: it would arrive
  // later.
  void check_overwrite_vgprs(const Instruction& at, unsigned first, unsigned count) const {
    uint32_t busy = 0;
    if (count == 8) {
      for (unsigned i = 0; i < 8; ++i) busy |= vgpr_busy_[first + i];
    } else {
      for (unsigned i = first; i < first + count; ++i) busy |= vgpr_busy_[i];
    }
    for (unsigned i = first; busy != 0 && i < first + count; ++i) {
      if (vgpr_busy_[i]) check_arrived_vgpr(at, i, "overwrites");
    }
  }
  void check_overwrite_sgprs(const Instruction& at, unsigned first, unsigned count) const {
    for (unsigned i = first; i < first + count; ++i) {
      if (sgpr_busy_[i]) check_arrived_sgpr(at, i, "overwrites");
    }
  }
  void mark_vgprs(unsigned first, unsigned count, uint32_t lanes) {
    if (count == 8) {
      for (unsigned i = 0; i < 8; ++i) vgpr_written[first + i] |= lanes;
      return;
    }
    for (unsigned i = first; i < first + count; ++i) vgpr_written[i] |= lanes;
  }
  void mark_sgprs(unsigned first, unsigned count) {
    for (unsigned i = first; i < first + count; ++i) sgpr_written.set(i);
  }

 private:
  // The slow halves of the checks above, where something may be wrong.
  void check_each_vgpr(const Instruction& at, unsigned first, unsigned count, uint32_t lanes) const;
  void check_vgpr(const Instruction& at, unsigned reg, uint32_t lanes) const;
  void check_sgpr(const Instruction& at, unsigned reg) const;
  void check_arrived_vgpr(const Instruction& at, unsigned reg, const char* verb) const;
  void check_arrived_sgpr(const Instruction& at, unsigned reg, const char* verb) const;

  // Whether *_pending may hold something outstanding: one word to look at instead of a record, as
  // wide as vgpr_written's. Cleared by the check that finds the result arrived.
  mutable std::array<uint32_t, kVectorRegisters> vgpr_busy_{};
  mutable std::array<uint8_t, kScalarRegisters> sgpr_busy_{};
};

// What the interpreter does before and after each instruction in strict mode: checks the operands
// that the opcode reads, from the decoded operands alone, and marks those it writes. Opcodes whose
// flags say kOwnStrictChecks do it in their handler.
void check_operands(const Instruction& instruction, Wave& wave);
void mark_results(const Instruction& instruction, Wave& wave, uint32_t exec_before);

// Which of this a decoded instruction needs.
StrictChecks strict_checks_of(const Instruction& instruction);

// The same for StrictChecks::kOperands, which nearly all arithmetic has; `lanes`: those that it
// reads and writes.
inline void check_plain_operands(const Instruction& in, const StrictState& state, uint32_t lanes) {
  for (int i = 0; i < in.sources; ++i) {
    const Operand& source = in.src[static_cast<size_t>(i)];
    if (source.is_vgpr()) {
      state.check_vgprs(in, source.index, source.registers, lanes);
    } else if (source.is_sgpr()) {
      state.check_sgprs(in, source.index, source.index == kNull ? 1 : source.registers);
    }
  }
  for (int i = 0; i < in.destinations; ++i) {
    const Operand& d = in.dst[static_cast<size_t>(i)];
    if (d.is_vgpr()) {
      state.check_overwrite_vgprs(in, d.index, d.registers);
    } else if (d.is_sgpr()) {
      state.check_overwrite_sgprs(in, d.index, d.registers);
    }
  }
}

inline void mark_plain_results(const Instruction& in, StrictState& state, uint32_t lanes) {
  for (int i = 0; i < in.destinations; ++i) {
    const Operand& d = in.dst[static_cast<size_t>(i)];
    if (d.is_vgpr()) {
      state.mark_vgprs(d.index, d.registers, lanes);
    } else if (d.is_sgpr()) {
      state.mark_sgprs(d.index, d.registers);
    }
  }
}

}  // namespace radiance::emulator
