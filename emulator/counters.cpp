#include "emulator/counters.hpp"

namespace radiance::emulator {
namespace {

constexpr std::string_view kNames[] = {
    "salu",     "smem",      "valu",       "vopd",        "trans",        "wmma",
    "lds_load", "lds_store", "lds_atomic", "global_load", "global_store", "global_atomic",
    "scratch",  "branch",    "wait",       "barrier",     "other",
};
static_assert(std::size(kNames) == kOpClasses);

void add(Traffic& to, const Traffic& from) {
  to.instructions += from.instructions;
  to.bytes += from.bytes;
  to.lines += from.lines;
  to.distinct_lines += from.distinct_lines;
}

}  // namespace

std::string_view name(OpClass opclass) { return kNames[static_cast<size_t>(opclass)]; }

uint64_t Counters::total() const {
  uint64_t sum = 0;
  for (const uint64_t count : instructions) sum += count;
  return sum;
}

void Counters::add(const Counters& other) {
  for (size_t i = 0; i < kOpClasses; ++i) instructions[i] += other.instructions[i];
  emulator::add(global_load, other.global_load);
  emulator::add(global_store, other.global_store);
  emulator::add(global_atomic, other.global_atomic);
  emulator::add(lds_load, other.lds_load);
  emulator::add(lds_store, other.lds_store);
  lds_bank_conflict_cycles += other.lds_bank_conflict_cycles;
  full_waits += other.full_waits;
  barriers += other.barriers;
  waves += other.waves;
  workgroups += other.workgroups;
  host_cpu_ns += other.host_cpu_ns;
}

}  // namespace radiance::emulator
