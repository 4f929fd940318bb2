// What strict mode knows about LDS: which bytes have been written, and who accessed what last.
//
// Kept by the dword, with a mask of its bytes. Two accesses of different waves to one byte, at
// least one of them a plain write or both not atomic, race unless the first is known to be complete
// to the second wave: waited for by its own wave before that wave signalled a barrier that the
// second has waited for (Workgroup::known). Of several writers of different bytes of one dword only
// the last is remembered; this can hide a race between them, never invent one.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "emulator/workgroup.hpp"

namespace radiance::emulator {

// For one wave, up to which operation of every other it may rely on. Its own order is certain.
using KnownOperations = std::array<Sequence, kMaxWaves>;
KnownOperations known_operations(const Wave& wave, Counter counter);

// Last write of a dword: who, with which operation, which bytes.
struct WriteRecord {
  Sequence sequence = 0;
  uint8_t wave = 0;
  uint8_t bytes = 0;  // mask; 0: none
  bool atomic = false;
  uint8_t ever = 0;  // bytes that any wave has written
};

// Last read of a dword by one wave.
class ReadRecord {
 public:
  uint32_t bytes() const { return packed_ >> 28; }
  Sequence sequence() const { return packed_ & kMaxSequence; }
  // `phase_start`: the wave's first operation since it last signalled a barrier. Older reads are
  // replaced, later ones are joined, so that no byte is credited with a read later than its own.
  void record(uint32_t bytes, Sequence sequence, Sequence phase_start) {
    const uint32_t kept = this->sequence() >= phase_start ? packed_ & ~kMaxSequence : 0;
    packed_ = kept | bytes << 28 | (sequence & kMaxSequence);
  }

 private:
  static constexpr uint32_t kMaxSequence = (1u << 28) - 1;
  uint32_t packed_ = 0;
};

struct LdsShadow {
  uint64_t serial = 0;  // of the workgroup it describes
  uint32_t dwords = 0;
  std::vector<WriteRecord> writes;          // by dword
  std::vector<ReadRecord> reads;            // [wave][dword]
  std::array<uint32_t, kMaxWaves> phase{};  // barriers signalled when phase_start was set
  std::array<Sequence, kMaxWaves> phase_start{};

  void begin(const Workgroup& group);
  // Faults on a race, or on a read of bytes that were never written. `sequence` is the operation's
  // number on dscnt.
  void access(const Wave& wave, const KnownOperations& known, AccessKind kind, int lane,
              uint32_t address, uint32_t bytes, Sequence sequence);
};

// The workgroup's shadow, made or cleared where it is another workgroup's.
LdsShadow& lds_shadow(Workgroup& group);

}  // namespace radiance::emulator
