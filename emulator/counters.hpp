// What a launch did: counts, not time.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <string_view>

namespace radiance::emulator {

enum class OpClass : uint8_t {
  kScalar,      // SALU
  kScalarLoad,  // SMEM
  kVector,      // VALU, one operation
  kDual,        // VOPD: one issue slot, two operations
  kTranscendental,
  kMatrix,  // WMMA, SWMMAC
  kLdsLoad,
  kLdsStore,
  kLdsAtomic,
  kGlobalLoad,  // global and flat
  kGlobalStore,
  kGlobalAtomic,
  kScratch,
  kBranch,
  kWait,
  kBarrier,
  kOther,  // s_nop, s_delay_alu, s_clause, hints
  kCount,
};
constexpr size_t kOpClasses = static_cast<size_t>(OpClass::kCount);

// "salu", "smem", "valu", "vopd", "trans", "wmma", "lds_load", ...: the names of the JSON report.
std::string_view name(OpClass opclass);

// Bytes and 128-byte cache lines that one kind of access moved. `lines` counts a line once an
// instruction, `distinct_lines` once a launch.
struct Traffic {
  uint64_t instructions = 0;
  uint64_t bytes = 0;
  uint64_t lines = 0;
  uint64_t distinct_lines = 0;
};

struct Counters {
  std::array<uint64_t, kOpClasses> instructions{};  // dynamic wave-instructions by class
  Traffic global_load;
  Traffic global_store;
  Traffic global_atomic;
  Traffic lds_load;  // lines unused
  Traffic lds_store;
  uint64_t lds_bank_conflict_cycles =
      0;                    // cycles beyond those the access would take without conflict
  uint64_t full_waits = 0;  // waits for a count of zero
  uint64_t barriers = 0;    // s_barrier_wait, a wave each
  uint64_t waves = 0;
  uint64_t workgroups = 0;
  uint64_t host_cpu_ns = 0;  // what it cost the emulator's threads, and says nothing of a card

  uint64_t total() const;
  void add(const Counters& other);
};

}  // namespace radiance::emulator
