// One gfx1201 instruction as the census sees it: its class, where it may go, what it moves.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace radiance::census {

// What the disassembler gives: LLVM's text of one instruction.
struct Line {
  uint64_t address = 0;
  uint32_t size = 0;
  std::string text;
};

enum class Class {
  kWmma,     // v_wmma_*, v_swmmac_*
  kVopd,     // two vector operations in one slot
  kValu,     // every other vector operation
  kSalu,     // scalar arithmetic
  kSmem,     // scalar loads and prefetches
  kLds,      // ds_*
  kGlobal,   // global_*, flat_*, buffer_*
  kScratch,  // scratch_*
  kWait,     // s_wait*
  kBarrier,  // s_barrier_*
  kBranch,   // branches, calls and the end of the program
  kControl,  // hints and modes: s_delay_alu, s_clause, s_nop, s_setprio, ...
};

enum class Flow {
  kNext,
  kBranch,             // to `target`
  kConditionalBranch,  // to `target` or on
  kEnd,                // s_endpgm, or to an address that only the run knows
};

// Memory that a lane reads or writes.
struct Access {
  uint32_t load_bytes = 0;
  uint32_t store_bytes = 0;
  bool counts_as_load = false;  // s_wait_loadcnt waits for it
  bool scalar_base = false;     // global: a scalar base and a 32-bit offset (SADDR)
};

struct Instruction {
  uint64_t address = 0;
  uint32_t size = 0;
  std::string mnemonic;
  std::string operands;
  Class kind = Class::kControl;
  Flow flow = Flow::kNext;
  uint64_t target = 0;
  Access access;
  // How many loads this wait leaves outstanding; none if it does not wait for loads.
  std::optional<uint32_t> loads_left;
  // A wait after which no global access of a kind is outstanding: s_wait_loadcnt 0,
  // s_wait_storecnt 0, both also when combined with dscnt, and s_wait_idle.
  bool full_wait = false;

  bool is(std::string_view name) const { return mnemonic == name; }
  bool starts_with(std::string_view prefix) const { return mnemonic.starts_with(prefix); }
  bool valu() const { return kind == Class::kValu || kind == Class::kVopd; }
  // The point that a wave leaves only when all have arrived.
  bool joins_barrier() const { return is("s_barrier_wait") || is("s_barrier"); }
};

Instruction parse_instruction(const Line& line);

}  // namespace radiance::census
