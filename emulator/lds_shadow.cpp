#include "emulator/lds_shadow.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace radiance::emulator {
namespace {

const char* verb(AccessKind kind) {
  switch (kind) {
    case AccessKind::kRead:
      return "reads";
    case AccessKind::kWrite:
      return "writes";
    case AccessKind::kAtomic:
      return "updates";
  }
  return "";
}

[[noreturn]] void race(const Wave& wave, AccessKind kind, int lane, uint32_t address,
                       const char* what, unsigned other) {
  fault(
      fmt::format("race in LDS: lane {} of wave {} {} byte {:#x}, which wave {} has {} with no "
                  "barrier between them that both waves' accesses have been waited for",
                  lane, wave.index, verb(kind), address, other, what));
}

}  // namespace

KnownOperations known_operations(const Wave& wave, Counter counter) {
  KnownOperations known;
  for (uint32_t other = 0; other < wave.group->wave_count; ++other) {
    known[other] = other == wave.index ? ~Sequence{0} : wave.group->known(wave, other, counter);
  }
  return known;
}

void LdsShadow::begin(const Workgroup& group) {
  serial = group.serial;
  dwords = (group.lds_bytes + 3) / 4;
  writes.assign(dwords, {});
  reads.assign(static_cast<size_t>(dwords) * group.wave_count, {});
  phase.fill(~0u);
  phase_start.fill(0);
}

void LdsShadow::access(const Wave& wave, const KnownOperations& known, AccessKind kind, int lane,
                       uint32_t address, uint32_t bytes, Sequence sequence) {
  const uint32_t self = wave.index, waves = wave.group->wave_count;
  if (phase[self] != wave.barrier_phase) {
    phase[self] = wave.barrier_phase;
    phase_start[self] = sequence;
  }
  for (uint32_t at = address; at < address + bytes;) {
    const uint32_t d = at / 4, first = at % 4;
    const uint32_t count = std::min(4 - first, address + bytes - at);
    const uint32_t mask = ((1u << count) - 1) << first;
    WriteRecord& last = writes[d];
    if (kind != AccessKind::kWrite && (last.ever & mask) != mask) {
      const auto missing = static_cast<uint32_t>(__builtin_ctz(mask & ~last.ever));
      fault(fmt::format("lane {} {} byte {:#x} of LDS, which no wave has written", lane, verb(kind),
                        4 * d + missing));
    }
    const bool both_atomic = kind == AccessKind::kAtomic && last.atomic;
    if ((last.bytes & mask) && last.sequence > known[last.wave] && !both_atomic) {
      race(wave, kind, lane, at, last.atomic ? "updated" : "written", last.wave);
    }
    ReadRecord* read = &reads[d];
    if (kind == AccessKind::kRead) {
      read[static_cast<size_t>(self) * dwords].record(mask, sequence, phase_start[self]);
    } else {
      for (uint32_t other = 0; other < waves; ++other, read += dwords) {
        if ((read->bytes() & mask) && read->sequence() > known[other]) {
          race(wave, kind, lane, at, "read", other);
        }
      }
      const bool join = last.wave == self && last.sequence >= phase_start[self];
      last.bytes = static_cast<uint8_t>(join ? last.bytes | mask : mask);
      last.sequence = sequence;
      last.wave = static_cast<uint8_t>(self);
      last.atomic = kind == AccessKind::kAtomic;
      last.ever |= static_cast<uint8_t>(mask);
    }
    at += count;
  }
}

LdsShadow& lds_shadow(Workgroup& group) {
  if (!group.lds_shadow) group.lds_shadow.reset(new LdsShadow);
  if (group.lds_shadow->serial != group.serial) group.lds_shadow->begin(group);
  return *group.lds_shadow;
}

void LdsShadowDeleter::operator()(LdsShadow* shadow) const { delete shadow; }

}  // namespace radiance::emulator
