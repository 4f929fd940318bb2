#include "emulator/global_shadow.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace radiance::emulator {
namespace {

size_t known_index(Counter counter) { return counter == Counter::kLoad ? 0 : 1; }

[[noreturn]] void race(const Wave& wave, AccessKind kind, int lane, uint64_t address,
                       const char* what, unsigned other) {
  const char* verb = kind == AccessKind::kRead    ? "reads"
                     : kind == AccessKind::kWrite ? "writes"
                                                  : "updates";
  fault(fmt::format(
      "race in global memory: lane {} of wave {} {} the byte at {:#x}, which wave {} has {} "
      "with no barrier between them that both waves' accesses have been waited for",
      lane, wave.index, verb, address, other, what));
}

uint64_t hash(uint64_t line) { return line * 0x9e3779b97f4a7c15ull >> 20; }

}  // namespace

void GlobalShadow::begin(const Workgroup& group) {
  serial = group.serial;
  forget();
  phase_.fill(~0u);
}

void GlobalShadow::forget() {
  lines_.clear();
  writes_.clear();
  reads_.clear();
  if (table_.empty()) table_.resize(1024);
  ++generation_;
}

void GlobalShadow::grow() {
  table_.assign(table_.size() * 2, {});
  generation_ = 1;
  for (uint32_t i = 0; i < lines_.size(); ++i) {
    size_t at = hash(lines_[i].number) & (table_.size() - 1);
    while (table_[at].generation == generation_) at = (at + 1) & (table_.size() - 1);
    table_[at] = {generation_, i};
  }
}

GlobalShadow::Line& GlobalShadow::line_at(uint64_t number) {
  size_t at = hash(number) & (table_.size() - 1);
  while (table_[at].generation == generation_) {
    Line& line = lines_[table_[at].line];
    if (line.number == number) return line;
    at = (at + 1) & (table_.size() - 1);
  }
  if (lines_.size() >= kMaxLines) {
    forget();
    return line_at(number);
  }
  if (lines_.size() * 2 >= table_.size()) {
    grow();
    return line_at(number);
  }
  table_[at] = {generation_, static_cast<uint32_t>(lines_.size())};
  lines_.push_back({number});
  return lines_.back();
}

GlobalShadow::Reads& GlobalShadow::reads_of(Line& line, uint32_t wave) {
  for (uint32_t i = line.reads; i != kNone; i = reads_[i].next) {
    if (reads_[i].wave == wave) return reads_[i];
  }
  reads_.push_back({wave, line.reads});
  line.reads = static_cast<uint32_t>(reads_.size() - 1);
  return reads_.back();
}

void GlobalShadow::access(const Wave& wave, const std::array<KnownOperations, 2>& known,
                          const GlobalAccess& access, int lane, uint64_t address) {
  const uint32_t self = wave.index;
  const size_t mine = known_index(access.counter);
  if (phase_[self] != wave.barrier_phase) {
    phase_[self] = wave.barrier_phase;
    for (size_t c = 0; c < 2; ++c) {
      // The next operation on the counter is the first of this phase; this one is `sequence`
      // already.
      const Counter counter = c == 0 ? Counter::kLoad : Counter::kStore;
      phase_start_[self][c] =
          c == mine ? access.sequence : wave.strict->issued[static_cast<size_t>(counter)] + 1;
    }
  }
  const uint64_t end = address + access.bytes;
  for (uint64_t at = address; at < end;) {
    const uint64_t dword = at / 4;
    const auto first = static_cast<uint32_t>(at % 4);
    const uint32_t count = static_cast<uint32_t>(std::min<uint64_t>(4 - first, end - at));
    const auto mask = static_cast<uint8_t>(((1u << count) - 1) << first);
    const size_t d = dword % kLineDwords;
    Line& line = line_at(dword / kLineDwords);
    if (line.writes != kNone) {
      const Write& last = writes_[line.writes].dwords[d];
      const bool both_atomic = access.kind == AccessKind::kAtomic && last.atomic;
      if ((last.bytes & mask) && last.sequence > known[known_index(last.counter)][last.wave] &&
          !both_atomic) {
        race(wave, access.kind, lane, at, last.atomic ? "updated" : "written", last.wave);
      }
    }
    if (access.kind == AccessKind::kRead) {
      reads_of(line, self).dwords[d].record(mask, access.sequence, phase_start_[self][0]);
    } else {
      for (uint32_t i = line.reads; i != kNone; i = reads_[i].next) {
        const ReadRecord& read = reads_[i].dwords[d];
        if ((read.bytes() & mask) && read.sequence() > known[0][reads_[i].wave]) {
          race(wave, access.kind, lane, at, "read", reads_[i].wave);
        }
      }
      if (line.writes == kNone) {
        line.writes = static_cast<uint32_t>(writes_.size());
        writes_.emplace_back();
      }
      Write& last = writes_[line.writes].dwords[d];
      const bool join = last.wave == self && last.counter == access.counter &&
                        last.sequence >= phase_start_[self][mine];
      last = {access.sequence, static_cast<uint8_t>(self),
              static_cast<uint8_t>(join ? last.bytes | mask : mask),
              access.kind == AccessKind::kAtomic, access.counter};
    }
    at += count;
  }
}

GlobalShadow& global_shadow(Workgroup& group) {
  if (!group.global_shadow) group.global_shadow.reset(new GlobalShadow);
  if (group.global_shadow->serial != group.serial) group.global_shadow->begin(group);
  return *group.global_shadow;
}

void GlobalShadowDeleter::operator()(GlobalShadow* shadow) const { delete shadow; }

}  // namespace radiance::emulator
