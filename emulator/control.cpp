// Control flow, barriers, waits and the hints that do nothing here.
#include <fmt/format.h>

#include <chrono>

#include "emulator/handlers.hpp"
#include "emulator/program.hpp"
#include "emulator/vector_operands.hpp"
#include "emulator/workgroup.hpp"

namespace radiance::emulator {
namespace {

void go_to(Wave& wave, uint64_t address) {
  const Instruction* target = wave.program ? wave.program->find(address) : nullptr;
  if (!target) fault(fmt::format("a branch to {:#x}, where no instruction begins", address));
  wave.next = target;
}

void take(const Instruction& in, Wave& wave) {
  if (in.target) {
    wave.next = in.target;
  } else {
    go_to(wave, in.target_address);
  }
}

uint64_t address_of_next(const Instruction& in) { return in.address + in.bytes; }

void branch(const Instruction& in, Wave& wave) { take(in, wave); }

enum class Condition : uint8_t { kScc0, kScc1, kVccz, kVccnz, kExecz, kExecnz };

template <Condition C>
void branch_if(const Instruction& in, Wave& wave) {
  bool taken = false;
  if constexpr (C == Condition::kScc0) taken = wave.scc() == 0;
  if constexpr (C == Condition::kScc1) taken = wave.scc() != 0;
  if constexpr (C == Condition::kVccz) taken = wave.vcc() == 0;
  if constexpr (C == Condition::kVccnz) taken = wave.vcc() != 0;
  if constexpr (C == Condition::kExecz) taken = wave.exec() == 0;
  if constexpr (C == Condition::kExecnz) taken = wave.exec() != 0;
  if (taken) take(in, wave);
}

void getpc(const Instruction& in, Wave& wave) { wave.set_scalar64(in.dst[0], address_of_next(in)); }

void setpc(const Instruction& in, Wave& wave) { go_to(wave, wave.scalar64(in.src[0])); }

void swappc(const Instruction& in, Wave& wave) {
  const uint64_t target = wave.scalar64(in.src[0]);
  wave.set_scalar64(in.dst[0], address_of_next(in));
  go_to(wave, target);
}

void call(const Instruction& in, Wave& wave) {
  wave.set_scalar64(in.dst[0], address_of_next(in));
  take(in, wave);
}

void end_program(const Instruction&, Wave& wave) {
  if (wave.group) {
    wave.group->wave_ended(wave);
  } else {
    wave.state = RunState::kEnded;
  }
}

void trap(const Instruction& in, Wave&) {
  fault(fmt::format("s_trap {}: the kernel stopped itself", in.immediate));
}

void code_end(const Instruction&, Wave&) { fault("s_code_end: the code ran past its end"); }

void nothing(const Instruction&, Wave&) {}

// --- Barriers
// ----------------------------------------------------------------------------------------

// Only the workgroup's own barrier (-1). Named and cluster barriers are not on this chip; -2 and -3
// are the trap handler's.
void require_workgroup_barrier(const Instruction& in, Wave& wave, uint32_t id) {
  if (id != 0xffffffffu && (id & 0xffffu) != 0xffffu) {
    fault(fmt::format("\"{}\": only barrier -1 is supported", in.text));
  }
  if (!wave.group) fault("a barrier outside a workgroup");
}

void barrier_signal(const Instruction& in, Wave& wave) {
  require_workgroup_barrier(in, wave, wave.scalar(in.src[0]));
  wave.group->signal(wave);
}

void barrier_signal_isfirst(const Instruction& in, Wave& wave) {
  require_workgroup_barrier(in, wave, wave.scalar(in.src[0]));
  wave.scc() = wave.group->signal(wave);
}

void barrier_wait(const Instruction& in, Wave& wave) {
  require_workgroup_barrier(in, wave, in.immediate);
  if (wave.barrier_phase == wave.barrier_passed) {
    if (wave.strict) fault("s_barrier_wait without an s_barrier_signal before it");
    return;
  }
  if (!wave.group->passed(wave)) {
    wave.state = RunState::kAtBarrier;
    wave.next = &in;
    return;
  }
  wave.barrier_passed = wave.barrier_phase;
  ++wave.counters->barriers;
}

// --- Waits
// -------------------------------------------------------------------------------------------

template <Counter C>
void wait_for(const Instruction& in, Wave& wave) {
  if (in.immediate == 0) ++wave.counters->full_waits;
  if (wave.strict) wave.strict->wait(C, in.immediate);
}

// Two counters in one instruction: the first in bits 13:8, dscnt in bits 5:0.
template <Counter C>
void wait_for_both(const Instruction& in, Wave& wave) {
  if ((in.immediate & 0x3f3f) == 0) ++wave.counters->full_waits;
  if (!wave.strict) return;
  wave.strict->wait(C, in.immediate >> 8 & 63);
  wave.strict->wait(Counter::kDs, in.immediate & 63);
}

void wait_idle(const Instruction&, Wave& wave) {
  ++wave.counters->full_waits;
  if (!wave.strict) return;
  for (size_t c = 0; c < kCounters; ++c) wave.strict->wait(static_cast<Counter>(c), 0);
}

// --- Hardware registers
// ------------------------------------------------------------------------------

constexpr unsigned kModeId = 1;

uint32_t hardware_register(const Instruction& in, Wave& wave, unsigned id) {
  switch (id) {
    case kModeId:
      return wave.mode.bits;
    case 2:
      return wave.scc() | (wave.exec() == 0 ? 1u << 9 : 0) | (wave.vcc() == 0 ? 1u << 10 : 0);
    case 6:
      return wave.group ? (wave.group->lds_bytes + 511) / 512 << 12 : 0;
    case 17:
    case 18:
    case 19:
      return 0;  // no exception is ever raised here
    case 23:
      return wave.index & 31;
    case 29:
      return static_cast<uint32_t>(wave.instructions);
    case 30:
      return static_cast<uint32_t>(wave.instructions >> 32);
    default:
      break;
  }
  fault(fmt::format("\"{}\": hardware register {} is not supported", in.text, id));
}

void getreg(const Instruction& in, Wave& wave) {
  const unsigned offset = in.immediate >> 6 & 31;
  const unsigned width = (in.immediate >> 11 & 31) + 1;
  const uint64_t mask = (1ull << width) - 1;
  wave.set_scalar(in.dst[0], static_cast<uint32_t>(
                                 hardware_register(in, wave, in.immediate & 63) >> offset & mask));
}

void set_hardware_register(const Instruction& in, Wave& wave, uint32_t value) {
  const unsigned id = in.immediate & 63;
  const unsigned offset = in.immediate >> 6 & 31;
  const unsigned width = (in.immediate >> 11 & 31) + 1;
  const auto mask = static_cast<uint32_t>(((1ull << width) - 1) << offset);
  if (id == kModeId) {
    wave.mode.bits = (wave.mode.bits & ~mask) | (value << offset & mask);
    Rounding64::set(wave.mode.round32());
  } else if (id < 17 || id > 19) {
    fault(fmt::format("\"{}\": hardware register {} cannot be written here", in.text, id));
  }
}

void setreg(const Instruction& in, Wave& wave) {
  set_hardware_register(in, wave, wave.scalar(in.src[0]));
}

void round_mode(const Instruction& in, Wave& wave) {
  wave.mode.bits = (wave.mode.bits & ~15u) | (in.immediate & 15u);
  Rounding64::set(wave.mode.round32());
}

void denorm_mode(const Instruction& in, Wave& wave) {
  wave.mode.bits = (wave.mode.bits & ~0xf0u) | (in.immediate & 15u) << 4;
}

// --- Messages that answer ------------------------------------------------------------------------

// The one that compiled programs ask for: MSG_RTN_GET_REALTIME, a counter of 100 MHz. The answer
// arrives like a scalar load.
template <unsigned Dwords>
void ask_time(const Instruction& in, Wave& wave) {
  if (std::string_view(in.text).find("MSG_RTN_GET_REALTIME") == std::string_view::npos) {
    fault(fmt::format("\"{}\": only the time can be asked for", in.text));
  }
  const auto now = std::chrono::steady_clock::now().time_since_epoch();
  const auto ticks =
      static_cast<uint64_t>(std::chrono::duration_cast<std::chrono::nanoseconds>(now).count() / 10);
  wave.set_scalar(in.dst[0], static_cast<uint32_t>(ticks));
  if constexpr (Dwords == 2) wave.set_scalar(in.dst[0], static_cast<uint32_t>(ticks >> 32), 1);
  if (wave.strict) {
    wave.strict->check_overwrite_sgprs(in, in.dst[0].index, Dwords);
    wave.strict->pend_sgprs(in, in.dst[0].index, Dwords, Counter::kKm,
                            wave.strict->issue(Counter::kKm));
  }
}

constexpr Opcode branch_on(std::string_view mnemonic, Handler handler, uint32_t flags) {
  return {mnemonic, handler, OpClass::kBranch, 0, kImmediate | kBranchTarget | flags};
}
constexpr Opcode wait(std::string_view mnemonic, Handler handler) {
  return {mnemonic, handler, OpClass::kWait, 0, kImmediate};
}
constexpr Opcode hint(std::string_view mnemonic) {
  return {mnemonic, nothing, OpClass::kOther, 0, kSymbolicImmediate};
}

constexpr Opcode kOpcodes[] = {
    branch_on("s_branch", branch, kNoFlags),
    branch_on("s_cbranch_scc0", branch_if<Condition::kScc0>, kReadsScc),
    branch_on("s_cbranch_scc1", branch_if<Condition::kScc1>, kReadsScc),
    branch_on("s_cbranch_vccz", branch_if<Condition::kVccz>, kReadsVcc),
    branch_on("s_cbranch_vccnz", branch_if<Condition::kVccnz>, kReadsVcc),
    branch_on("s_cbranch_execz", branch_if<Condition::kExecz>, kReadsExec),
    branch_on("s_cbranch_execnz", branch_if<Condition::kExecnz>, kReadsExec),
    {"s_getpc_b64", getpc, OpClass::kScalar, 1},
    {"s_setpc_b64", setpc, OpClass::kBranch, 0},
    {"s_swappc_b64", swappc, OpClass::kBranch, 1},
    {"s_call_b64", call, OpClass::kBranch, 1, kImmediate | kBranchTarget},
    {"s_endpgm", end_program, OpClass::kBranch, 0},
    {"s_trap", trap, OpClass::kOther, 0, kImmediate},
    {"s_code_end", code_end, OpClass::kOther, 0},
    {"s_barrier_signal", barrier_signal, OpClass::kOther, 0},
    {"s_barrier_signal_isfirst", barrier_signal_isfirst, OpClass::kOther, 0, kWritesScc},
    {"s_barrier_wait", barrier_wait, OpClass::kBarrier, 0, kImmediate},
    wait("s_wait_loadcnt", wait_for<Counter::kLoad>),
    wait("s_wait_storecnt", wait_for<Counter::kStore>),
    wait("s_wait_dscnt", wait_for<Counter::kDs>),
    wait("s_wait_kmcnt", wait_for<Counter::kKm>),
    wait("s_wait_samplecnt", wait_for<Counter::kSample>),
    wait("s_wait_bvhcnt", wait_for<Counter::kBvh>),
    wait("s_wait_expcnt", wait_for<Counter::kExp>),
    wait("s_wait_loadcnt_dscnt", wait_for_both<Counter::kLoad>),
    wait("s_wait_storecnt_dscnt", wait_for_both<Counter::kStore>),
    {"s_wait_idle", wait_idle, OpClass::kWait, 0},
    {"s_sendmsg_rtn_b32", ask_time<1>, OpClass::kOther, 1, kOwnStrictChecks | kLastIsSymbolic},
    {"s_sendmsg_rtn_b64", ask_time<2>, OpClass::kOther, 1, kOwnStrictChecks | kLastIsSymbolic},
    hint("s_wait_alu"),
    hint("s_wait_event"),
    hint("s_nop"),
    hint("s_delay_alu"),
    hint("s_clause"),
    hint("s_sleep"),
    hint("s_sleep_var"),
    hint("s_setprio"),
    hint("s_sethalt"),
    hint("s_sendmsg"),  // MSG_DEALLOC_VGPRS; the others reach a host that is not there
    hint("s_icache_inv"),
    hint("s_incperflevel"),
    hint("s_decperflevel"),
    hint("s_ttracedata"),
    hint("s_ttracedata_imm"),
    hint("s_prefetch_inst"),
    hint("s_prefetch_inst_pc_rel"),
    hint("s_prefetch_data"),
    hint("s_prefetch_data_pc_rel"),
    hint("s_buffer_prefetch_data"),
    hint("s_dcache_inv"),
    hint("s_version"),
    {"s_getreg_b32", getreg, OpClass::kScalar, 1},
    {"s_setreg_b32", setreg, OpClass::kScalar, 0, kNoFlags},
    {"s_setreg_imm32_b32", setreg, OpClass::kScalar, 0, kNoFlags},
    {"s_round_mode", round_mode, OpClass::kScalar, 0, kImmediate},
    {"s_denorm_mode", denorm_mode, OpClass::kScalar, 0, kImmediate},
};

}  // namespace

std::span<const Opcode> control_opcodes() { return kOpcodes; }

}  // namespace radiance::emulator
