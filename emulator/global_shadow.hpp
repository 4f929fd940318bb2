// What strict mode knows about one workgroup's accesses to global memory: who accessed what last.
//
// As LdsShadow, but sparse: 128-byte lines in a hash table, and without a notion of memory that was
// never written. Other workgroups are not watched: they synchronise by atomics, of which this model
// knows nothing. In a workgroup only barriers order accesses; that a compute unit in CU mode would
// order some more is not used, as no compiler relies on it in the default (WGP) mode.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <vector>

#include "emulator/access_log.hpp"
#include "emulator/lane_transfer.hpp"

namespace radiance::emulator {

struct GlobalAccess {
  AccessKind kind;
  Counter counter;
  Sequence sequence;
  uint32_t bytes;  // a lane
};

class GlobalShadow {
 public:
  uint64_t serial = 0;

  void begin(const Workgroup& group);
  // Faults on a race.
  void access(const Wave& wave, const GlobalAccess& access, const LaneAddresses& at,
              uint32_t lanes);

 private:
  static constexpr uint32_t kLineDwords = 32;
  static constexpr uint32_t kNone = ~0u;
  static constexpr uint32_t kMaxLines = 1u << 19;  // beyond: forgets all, and misses what it forgot

  // One wave's reads of a line: the last by an instruction that read all of it, which most do, and
  // those of parts.
  struct Reads {
    uint32_t wave = 0;
    uint32_t next = kNone;
    Stamp whole = 0;
    uint32_t parts = kNone;  // index into read_parts_
  };
  struct ReadParts {
    std::array<Stamp, kLineDwords> stamps{};
    std::array<uint8_t, kLineDwords> masks{};
  };
  // Most lines are only read, and by one wave: the rest is made when it is needed.
  struct Line {
    uint64_t number = 0;
    Stamp last_read = 0;      // by any wave, of any dword
    uint32_t reads = kNone;   // index of the latest wave's
    uint32_t writes = kNone;  // index into writes_, once it was written
    uint32_t bytes = kNone;   // index into bytes_, once a dword was written in parts
  };
  using Writes = std::array<Stamp, kLineDwords>;
  struct Slot {
    uint32_t generation = 0;
    uint32_t line = 0;
  };

  template <uint32_t kDwords>
  void access_dwords(const Wave& wave, const GlobalAccess& access, const LaneAddresses& at,
                     uint32_t lanes, Stamp now, Stamp horizon);
  Line& line_at(uint64_t number);
  Stamp* writes_of(Line& line);
  Reads& reads_of(Line& line, uint32_t wave);
  ReadParts& parts_of(Reads& reads);
  void note_read(const Wave& wave, ReadParts& parts, size_t dword, uint32_t mask, Stamp now) const;
  // The lanes from `lane` on that read just one line, as a mask; 0 where they do not or where what
  // was written there needs a closer look.
  template <uint32_t kDwords>
  uint32_t read_line(const Wave& wave, const LaneAddresses& at, int lane, uint32_t lanes, Stamp now,
                     Stamp horizon);
  // Reads of one or two bytes a lane.
  void read_small(const Wave& wave, const GlobalAccess& access, const LaneAddresses& at,
                  uint32_t lanes, Stamp now);
  void forget();
  void grow();
  void access_bytes(const Wave& wave, AccessKind kind, int lane, uint64_t address, uint32_t bytes,
                    Stamp now);

  AccessLog log_;
  std::vector<Slot> table_;
  uint32_t generation_ = 0;
  std::vector<Line> lines_;
  std::vector<Reads> reads_;
  std::vector<ReadParts> read_parts_;
  std::vector<Writes> writes_;
  std::vector<std::array<Stamp, 128>> bytes_;
};

GlobalShadow& global_shadow(Workgroup& group);

}  // namespace radiance::emulator
