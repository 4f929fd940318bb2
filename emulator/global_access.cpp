#include "emulator/global_access.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace radiance::emulator {
namespace {

const char* verb(AccessKind kind) {
  switch (kind) {
    case AccessKind::kRead:
      return "loads";
    case AccessKind::kWrite:
      return "stores";
    case AccessKind::kAtomic:
      return "atomically updates";
  }
  return "";
}

[[noreturn]] void fault_access(const GlobalAccess& access, int lane, uint64_t address,
                               const std::string& why) {
  fault(fmt::format("lane {} {} {} bytes at {:#x}, {}", lane, verb(access.kind), access.bytes,
                    address, why));
}

void check_bounds(const LaneAddresses& at, uint32_t lanes, const GlobalAccess& access,
                  MemoryView& memory) {
  uint64_t lowest = ~uint64_t{0}, highest = 0;
  if (lanes == kAllLanes) {
    for (int i = 0; i < kLanes; ++i) {
      lowest = std::min(lowest, at.at[i]);
      highest = std::max(highest, at.at[i]);
    }
  } else {
    for (uint32_t left = lanes; left != 0; left &= left - 1) {
      const uint64_t address = at.at[__builtin_ctz(left)];
      lowest = std::min(lowest, address);
      highest = std::max(highest, address);
    }
  }
  // Nearly always all lanes are in one allocation.
  if (memory.accessible(lowest, highest - lowest + access.bytes)) return;
  for (uint32_t left = lanes; left != 0; left &= left - 1) {
    const int lane = __builtin_ctz(left);
    if (memory.accessible(at.at[lane], access.bytes)) continue;
    // The first byte may be good: name the first that is not.
    uint64_t bad = at.at[lane];
    while (bad + 1 < at.at[lane] + access.bytes && memory.accessible(bad, 1)) ++bad;
    fault_access(access, lane, at.at[lane], memory.describe(bad));
  }
}

// A line counts once an instruction.
void count_lines(const LaneAddresses& at, uint32_t lanes, const GlobalAccess& access,
                 Traffic& traffic, TouchedLines& touched) {
  // Lanes mostly go through memory in order, each within one line: then a line is new where it
  // differs from the lane's before.
  uint64_t backwards = lanes == kAllLanes ? 0 : 1;
  uint32_t starts = 1;
  for (int i = 0; i < kLanes; ++i) {
    backwards |= (at.at[i] / kLineBytes) ^ ((at.at[i] + access.bytes - 1) / kLineBytes);
  }
  for (int i = 1; i < kLanes; ++i) {
    const uint64_t line = at.at[i] / kLineBytes, before = at.at[i - 1] / kLineBytes;
    backwards |= line < before;
    starts |= static_cast<uint32_t>(line != before) << i;
  }
  if (backwards == 0) {
    traffic.lines += static_cast<uint64_t>(__builtin_popcount(starts));
    for (uint32_t left = starts; left != 0; left &= left - 1) {
      touched.add(at.at[__builtin_ctz(left)] / kLineBytes);
    }
    return;
  }
  uint64_t seen[2 * kLanes];
  uint64_t maybe_seen = 0;  // a bit a line's hash
  size_t count = 0;
  for (uint32_t left = lanes; left != 0; left &= left - 1) {
    const uint64_t address = at.at[__builtin_ctz(left)];
    const uint64_t last = (address + access.bytes - 1) / kLineBytes;
    for (uint64_t line = address / kLineBytes; line <= last; ++line) {
      const uint64_t bit = uint64_t{1} << (line * 0x9e3779b97f4a7c15ull >> 58);
      if ((maybe_seen & bit) && std::find(seen, seen + count, line) != seen + count) continue;
      maybe_seen |= bit;
      seen[count++] = line;
      touched.add(line);
    }
  }
  traffic.lines += count;
}

void check_strictly(const LaneAddresses& at, uint32_t lanes, const GlobalAccess& access,
                    Wave& wave) {
  const uint64_t alignment =
      access.kind == AccessKind::kAtomic ? access.bytes : std::min(access.bytes, 4u);
  uint64_t low_bits = 0;
  for (int i = 0; i < kLanes; ++i) {
    low_bits |= at.at[i] & (uint64_t{0} - (lanes >> i & 1));
  }
  for (uint32_t left = low_bits % alignment != 0 ? lanes : 0; left != 0; left &= left - 1) {
    const int lane = __builtin_ctz(left);
    if (at.at[lane] % alignment != 0) {
      fault(fmt::format("misaligned access: lane {} {} {} bytes at {:#x}", lane, verb(access.kind),
                        access.bytes, at.at[lane]));
    }
  }
  global_shadow(*wave.group).access(wave, access, at, lanes);
}

}  // namespace

void global_addresses(const Instruction& in, const Wave& wave, const Operand& address,
                      const Operand& base, LaneAddresses& out) {
  const auto offset = static_cast<uint64_t>(static_cast<int64_t>(in.mod.offset));
  const Lanes& low = wave.vgpr[address.index];
  if (base.is_sgpr() && base.index != kNull) {
    const uint64_t scalar = wave.scalar64(base) + offset;
    for (int i = 0; i < kLanes; ++i) out.at[i] = scalar + low.v[i];
  } else {
    const Lanes& high = wave.vgpr[address.index + 1];
    for (int i = 0; i < kLanes; ++i) {
      out.at[i] = (low.v[i] | static_cast<uint64_t>(high.v[i]) << 32) + offset;
    }
  }
}

void check_global(const LaneAddresses& at, uint32_t lanes, const GlobalAccess& access, Wave& wave) {
  if (lanes == 0) return;
  check_bounds(at, lanes, access, *wave.memory);
  if (access.kind == AccessKind::kAtomic) {
    // The host's own atomics need it too.
    for (uint32_t left = lanes; left != 0; left &= left - 1) {
      const int lane = __builtin_ctz(left);
      if (at.at[lane] % access.bytes != 0) {
        fault_access(access, lane, at.at[lane], "which is not aligned as an atomic must be");
      }
    }
  }
  if (wave.strict) check_strictly(at, lanes, access, wave);

  Counters& counters = *wave.counters;
  Traffic& traffic = access.kind == AccessKind::kRead    ? counters.global_load
                     : access.kind == AccessKind::kWrite ? counters.global_store
                                                         : counters.global_atomic;
  ++traffic.instructions;
  traffic.bytes += static_cast<uint64_t>(__builtin_popcount(lanes)) * access.bytes;
  count_lines(at, lanes, access, traffic, wave.memory->touched(access.kind));
}

}  // namespace radiance::emulator
