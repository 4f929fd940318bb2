// What strict mode knows about LDS: which bytes have been written, and who accessed what last.
//
// Two accesses of different waves to one byte race where one of them writes, unless the earlier one
// is known to the later wave (access_log.hpp) or both are atomic. Kept by dwords, as nearly all
// accesses are; a dword that is written in parts gets a stamp for each byte. Of several atomics on
// one place only the last is remembered, which may hide a race of a plain access with an earlier
// one, and never invents one.
#pragma once

#include <cstdint>
#include <vector>

#include "emulator/access_log.hpp"
#include "emulator/lanes.hpp"

namespace radiance::emulator {

struct LdsShadow {
  uint64_t serial = 0;  // of the workgroup it describes

  void begin(const Workgroup& group);
  // One access of an instruction by `lanes` at byte addresses within LDS. Faults on a race, or on a
  // read of bytes that were never written. `sequence` is the operation's number on dscnt.
  void access(const Wave& wave, AccessKind kind, const Lanes& address, uint32_t lanes,
              uint32_t bytes, Sequence sequence);

 private:
  struct Bytes {
    Stamp stamps[4];
  };
  static constexpr Stamp kSplit = 1u << 31;  // the rest is an index into split_

  template <uint32_t kDwords, AccessKind kKind>
  void access_dwords(const Wave& wave, const Lanes& address, uint32_t lanes, Stamp now,
                     Stamp horizon);
  template <uint32_t kDwords>
  void access_dwords(const Wave& wave, AccessKind kind, const Lanes& address, uint32_t lanes,
                     Stamp now, Stamp horizon);
  // Byte by byte, exactly.
  void access_bytes(const Wave& wave, AccessKind kind, int lane, uint32_t address, uint32_t bytes,
                    Stamp now);
  Stamp written(uint32_t dword, uint32_t byte) const;
  void set_written(uint32_t dword, uint32_t mask, Stamp now);

  AccessLog log_;
  uint32_t dwords_ = 0;
  std::vector<Stamp> writes_;        // last write by dword; 0: not yet
  std::vector<Stamp> any_reads_;     // last read by any wave, by dword
  std::vector<Stamp> reads_;         // by wave and dword
  std::vector<uint8_t> read_masks_;  // which bytes that read was of
  std::vector<Bytes> split_;
};

// The workgroup's shadow, made or cleared where it is another workgroup's.
LdsShadow& lds_shadow(Workgroup& group);

}  // namespace radiance::emulator
