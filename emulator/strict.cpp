#include "emulator/strict.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>

#include "emulator/handlers.hpp"
#include "emulator/wave.hpp"

namespace radiance::emulator {
namespace {

// The first counter whose wait the result still needs, or kCount.
Counter outstanding(const Pending& pending, const StrictState& state) {
  if (pending.by) {
    for (size_t c = 0; c < kCounters; ++c) {
      if (pending.until[c] > state.completed[c]) return static_cast<Counter>(c);
    }
  }
  return Counter::kCount;
}

std::string scalar_name(unsigned index) {
  if (index == kVccLo) return "vcc_lo";
  if (index == kVccHi) return "vcc_hi";
  if (index == kM0) return "m0";
  if (index == kExecLo) return "exec_lo";
  if (index >= kTtmp0 && index < kNull) return fmt::format("ttmp{}", index - kTtmp0);
  if (index == kScc) return "scc";
  return fmt::format("s{}", index);
}

[[noreturn]] void fault_pending(const Instruction& at, const std::string& reg, const char* verb,
                                const Pending& pending, Counter counter) {
  fault(fmt::format("\"{}\" {} {} while the result of \"{}\" at {:#x} has not been waited for ({})",
                    at.text, verb, reg, pending.by->text, pending.by->address, name(counter)));
}

}  // namespace

const char* name(Counter counter) {
  constexpr const char* kNames[] = {"loadcnt",   "storecnt", "dscnt", "kmcnt",
                                    "samplecnt", "bvhcnt",   "expcnt"};
  return kNames[static_cast<size_t>(counter)];
}

void StrictState::reset() {
  *this = StrictState();
  // What reads as a constant or is set at every launch.
  for (unsigned i = kNull; i < kScalarRegisters; ++i) {
    if (i != kM0 && i != kScc) sgpr_written.set(i);
  }
}

void StrictState::wait(Counter counter, uint32_t left) {
  const auto c = static_cast<size_t>(counter);
  // SMEM returns out of order: only zero left proves anything.
  if (counter == Counter::kKm && left != 0) return;
  if (issued[c] > left) completed[c] = std::max(completed[c], issued[c] - left);
}

void StrictState::pend_vgprs(const Instruction& by, uint16_t first, unsigned count, uint32_t lanes,
                             Counter counter, Sequence sequence) {
  for (unsigned i = first; i < first + count; ++i) {
    // An older result that has arrived says nothing any more; one on another counter of this
    // instruction (flat) stays.
    if (vgpr_pending[i].by != &by) vgpr_pending[i] = {};
    vgpr_pending[i].until[static_cast<size_t>(counter)] = sequence;
    vgpr_pending[i].by = &by;
    vgpr_busy_[i] = 1;
    vgpr_written[i] |= lanes;
  }
}

void StrictState::pend_sgprs(const Instruction& by, uint16_t first, unsigned count, Counter counter,
                             Sequence sequence) {
  for (unsigned i = first; i < first + count; ++i) {
    sgpr_pending[i] = {};
    sgpr_pending[i].until[static_cast<size_t>(counter)] = sequence;
    sgpr_pending[i].by = &by;
    sgpr_busy_[i] = 1;
    sgpr_written.set(i);
  }
}

void StrictState::check_arrived_vgpr(const Instruction& at, unsigned reg, const char* verb) const {
  const Counter c = outstanding(vgpr_pending[reg], *this);
  if (c != Counter::kCount) {
    fault_pending(at, fmt::format("v{}", reg), verb, vgpr_pending[reg], c);
  }
  vgpr_busy_[reg] = 0;
}

void StrictState::check_arrived_sgpr(const Instruction& at, unsigned reg, const char* verb) const {
  const Counter c = outstanding(sgpr_pending[reg], *this);
  if (c != Counter::kCount) {
    fault_pending(at, scalar_name(reg), verb, sgpr_pending[reg], c);
  }
  sgpr_busy_[reg] = 0;
}

void StrictState::check_each_vgpr(const Instruction& at, unsigned first, unsigned count,
                                  uint32_t lanes) const {
  for (unsigned i = first; i < first + count; ++i) {
    if ((lanes & ~vgpr_written[i]) | vgpr_busy_[i]) check_vgpr(at, i, lanes);
  }
}

void StrictState::check_vgpr(const Instruction& at, unsigned reg, uint32_t lanes) const {
  if (lanes) check_arrived_vgpr(at, reg, "reads");
  if (const uint32_t missing = lanes & ~vgpr_written[reg]) {
    fault(fmt::format("\"{}\" reads v{}, which lane {} has never written", at.text, reg,
                      std::countr_zero(missing)));
  }
}

namespace {

// How compilers begin to merge a lane mask in a loop: what the active lanes had is cleared, and
// what the others had may never have been set. The result counts as written.
bool drops_active_lanes(const Instruction& at, unsigned reg) {
  return at.opcode->mnemonic == "s_and_not1_b32" && at.src[0].index == reg && at.src[1].is_sgpr() &&
         at.src[1].index == kExecLo;
}

bool is_upper_addend(const Instruction& at, unsigned reg) {
  return (at.opcode->flags & kUpperAddendMayBeUndefined) && at.src[2].is_sgpr() &&
         at.src[2].index + 1U == reg;
}

}  // namespace

void StrictState::check_sgpr(const Instruction& at, unsigned reg) const {
  check_arrived_sgpr(at, reg, "reads");
  if (!sgpr_written.test(reg) && !drops_active_lanes(at, reg) && !is_upper_addend(at, reg)) {
    fault(fmt::format("\"{}\" reads {}, which has never been written", at.text, scalar_name(reg)));
  }
}

StrictChecks strict_checks_of(const Instruction& in) {
  if (in.second) return StrictChecks::kAll;
  if (!in.opcode || (in.opcode->flags & kOwnStrictChecks)) return StrictChecks::kNone;
  constexpr uint32_t kMoreThanOperands = kMoves | kReadsDestination | kReadsScc | kWritesScc |
                                         kReadsVcc | kWritesVcc | kUpperAddendMayBeUndefined;
  if ((in.opcode->flags & kMoreThanOperands) || in.mod.dpp != DppKind::kNone) {
    return StrictChecks::kAll;
  }
  return in.sources + in.destinations > 0 ? StrictChecks::kOperands : StrictChecks::kNone;
}

void check_operands(const Instruction& in, Wave& wave) {
  if (in.second) {
    check_operands(*in.first, wave);
    check_operands(*in.second, wave);
    return;
  }
  if (!in.opcode || (in.opcode->flags & kOwnStrictChecks)) return;
  const StrictState& state = *wave.strict;
  const uint32_t flags = in.opcode->flags;
  const uint32_t lanes = flags & kIgnoresExec ? kAllLanes : wave.exec();
  for (int i = 0; i < in.sources; ++i) {
    const Operand& source = in.src[static_cast<size_t>(i)];
    if (source.is_sgpr() && (flags & kMoves)) {
      state.check_overwrite_sgprs(in, source.index, source.registers);
    } else if (source.is_sgpr()) {
      state.check_sgprs(in, source.index, source.index == kNull ? 1 : source.registers);
    } else if (source.is_vgpr()) {
      if (i == 0 && in.mod.dpp != DppKind::kNone) continue;  // execute_dpp knows the lanes
      if (flags & kMoves) {
        // Undefined lanes are copied as such (mark_results); a missing wait is one all the same.
        state.check_overwrite_vgprs(in, source.index, source.registers);
      } else if (i == 2 && (flags & kUpperAddendMayBeUndefined)) {
        state.check_vgprs(in, source.index, 1, lanes);
        state.check_overwrite_vgprs(in, source.index, source.registers);
      } else {
        state.check_vgprs(in, source.index, source.registers, lanes);
      }
    }
  }
  for (int i = 0; i < in.destinations; ++i) {
    const Operand& d = in.dst[static_cast<size_t>(i)];
    if (d.is_vgpr()) {
      if ((flags & kReadsDestination) && i == 0) state.check_vgprs(in, d.index, d.registers, lanes);
      state.check_overwrite_vgprs(in, d.index, d.registers);
    } else if (d.is_sgpr()) {
      if ((flags & kReadsDestination) && i == 0) state.check_sgprs(in, d.index, d.registers);
      state.check_overwrite_sgprs(in, d.index, d.registers);
    }
  }
  if (flags & kReadsScc) state.check_sgprs(in, kScc, 1);
  if (flags & kReadsVcc) state.check_sgprs(in, kVccLo, 1);
}

void mark_results(const Instruction& in, Wave& wave, uint32_t exec_before) {
  if (in.second) {
    mark_results(*in.first, wave, exec_before);
    mark_results(*in.second, wave, exec_before);
    return;
  }
  if (!in.opcode || (in.opcode->flags & kOwnStrictChecks)) return;
  StrictState& state = *wave.strict;
  const uint32_t flags = in.opcode->flags;
  uint32_t lanes = flags & kIgnoresExec ? kAllLanes : exec_before;
  for (int i = 0; i < in.destinations; ++i) {
    const Operand& d = in.dst[static_cast<size_t>(i)];
    if (d.is_sgpr()) {
      const Operand& source = in.src[0];
      if ((flags & kMoves) && source.is_sgpr() && !state.sgpr_written.test(source.index)) {
        for (unsigned r = d.index; r < d.index + d.registers; ++r) state.sgpr_written.reset(r);
      } else {
        state.mark_sgprs(d.index, d.registers);
      }
    } else if (d.is_vgpr()) {
      uint32_t undefined = 0;
      if (flags & kMoves) {
        for (int s = 0; s < in.sources; ++s) {
          const Operand& source = in.src[static_cast<size_t>(s)];
          if (s == 0 && in.mod.dpp != DppKind::kNone) continue;
          if (source.is_vgpr()) undefined |= lanes & ~state.vgpr_written[source.index];
        }
      }
      if ((flags & kUpperAddendMayBeUndefined) && in.src[2].is_vgpr()) {
        const uint32_t upper = state.vgpr_written[in.src[2].index + 1];
        state.mark_vgprs(d.index, 1, lanes);
        state.vgpr_written[d.index + 1] =
            (state.vgpr_written[d.index + 1] & ~lanes) | (lanes & upper);
        continue;
      }
      state.mark_vgprs(d.index, d.registers, lanes & ~undefined);
      if (undefined && !d.half) {
        for (unsigned r = d.index; r < d.index + d.registers; ++r) {
          state.vgpr_written[r] &= ~undefined;
        }
      }
    }
  }
  if (flags & kWritesScc) state.mark_sgprs(kScc, 1);
  if (flags & kWritesVcc) state.mark_sgprs(kVccLo, 1);
}

}  // namespace radiance::emulator
