// What strict mode knows about one workgroup's accesses to global memory: who accessed what last.
//
// Like LdsShadow, by dwords with a mask of their bytes, but sparse: by 128-byte lines in a hash
// table. Loads count on loadcnt, stores and atomics without result on storecnt; an access is known
// to another wave once it was waited for before a barrier that both passed. Other workgroups are
// not watched: they synchronise by atomics, of which this model knows nothing.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "emulator/lds_shadow.hpp"

namespace radiance::emulator {

struct GlobalAccess {
  AccessKind kind;
  Counter counter;
  Sequence sequence;
  uint32_t bytes;  // a lane
};

struct GlobalShadow {
  uint64_t serial = 0;

  void begin(const Workgroup& group);
  // Faults on a race. `known`: by counter, kLoad and kStore.
  void access(const Wave& wave, const std::array<KnownOperations, 2>& known,
              const GlobalAccess& access, int lane, uint64_t address);

 private:
  static constexpr uint32_t kNone = ~0u;
  static constexpr uint32_t kLineDwords = 32;
  static constexpr uint32_t kMaxLines = 1u << 20;  // beyond: forgets all, and misses what it forgot

  struct Write {
    Sequence sequence = 0;
    uint8_t wave = 0;
    uint8_t bytes = 0;
    bool atomic = false;
    Counter counter = Counter::kStore;
  };
  struct Writes {
    std::array<Write, kLineDwords> dwords{};
  };
  struct Reads {
    uint32_t wave = 0;
    uint32_t next = kNone;
    std::array<ReadRecord, kLineDwords> dwords{};
  };
  struct Line {
    uint64_t number = 0;
    uint32_t writes = kNone;  // index, where the line was written
    uint32_t reads = kNone;   // index of the first wave's
  };
  struct Slot {
    uint32_t generation = 0;
    uint32_t line = 0;
  };

  Line& line_at(uint64_t number);
  Reads& reads_of(Line& line, uint32_t wave);
  void forget();
  void grow();

  std::vector<Slot> table_;
  uint32_t generation_ = 0;
  std::vector<Line> lines_;
  std::vector<Writes> writes_;
  std::vector<Reads> reads_;
  std::array<uint32_t, kMaxWaves> phase_{};
  std::array<std::array<Sequence, 2>, kMaxWaves> phase_start_{};
};

GlobalShadow& global_shadow(Workgroup& group);

}  // namespace radiance::emulator
