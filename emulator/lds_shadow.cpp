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
                       const char* what, uint32_t other) {
  fault(fmt::format(
      "race in LDS: lane {} of wave {} {} byte {:#x}, which wave {} has {}, and no barrier "
      "stands between the end of that access and this one",
      lane, wave.index, verb(kind), address, other, what));
}

}  // namespace

void LdsShadow::begin(const Workgroup& group) {
  serial = group.serial;
  log_.clear();
  dwords_ = (group.lds_bytes + 3) / 4;
  writes_.assign(dwords_, 0);
  any_reads_.assign(dwords_, 0);
  reads_.assign(static_cast<size_t>(dwords_) * group.wave_count, 0);
  read_masks_.assign(reads_.size(), 0);
  split_.clear();
}

Stamp LdsShadow::written(uint32_t dword, uint32_t byte) const {
  const Stamp stamp = writes_[dword];
  return stamp & kSplit ? split_[stamp & ~kSplit].stamps[byte] : stamp;
}

void LdsShadow::set_written(uint32_t dword, uint32_t mask, Stamp now) {
  Stamp& stamp = writes_[dword];
  if (!(stamp & kSplit)) {
    if (mask == 15) {
      stamp = now;
      return;
    }
    split_.push_back({{stamp, stamp, stamp, stamp}});
    stamp = kSplit | static_cast<Stamp>(split_.size() - 1);
  }
  Bytes& bytes = split_[stamp & ~kSplit];
  for (uint32_t b = 0; b < 4; ++b) {
    if (mask >> b & 1) bytes.stamps[b] = now;
  }
}

void LdsShadow::access_bytes(const Wave& wave, AccessKind kind, int lane, uint32_t address,
                             uint32_t bytes, Stamp now) {
  const uint32_t waves = wave.group->wave_count;
  for (uint32_t at = address; at < address + bytes;) {
    const uint32_t d = at / 4, first = at % 4;
    const uint32_t count = std::min(4 - first, address + bytes - at);
    const uint32_t mask = byte_mask(first, count);
    for (uint32_t b = first; b < first + count; ++b) {
      const Stamp last = written(d, b);
      if (last == 0) {
        if (kind == AccessKind::kWrite) continue;
        fault(fmt::format("lane {} {} byte {:#x} of LDS, which no wave has written", lane,
                          verb(kind), 4 * d + b));
      }
      if (!log_.known(wave, last) && !(kind == AccessKind::kAtomic && log_.atomic(last))) {
        race(wave, kind, lane, 4 * d + b, log_.atomic(last) ? "updated" : "written",
             log_.wave_of(last));
      }
    }
    const size_t mine = static_cast<size_t>(wave.index) * dwords_ + d;
    if (kind == AccessKind::kRead) {
      // Reads of other bytes in this phase are joined; older ones were before a barrier and are
      // dropped, as they must not be credited with a read as late as this.
      const bool join = reads_[mine] >= log_.phase_start(wave);
      read_masks_[mine] = static_cast<uint8_t>(join ? read_masks_[mine] | mask : mask);
      reads_[mine] = any_reads_[d] = now;
    } else {
      for (uint32_t other = 0; other < waves; ++other) {
        const size_t theirs = static_cast<size_t>(other) * dwords_ + d;
        if ((read_masks_[theirs] & mask) && !log_.known(wave, reads_[theirs])) {
          race(wave, kind, lane, at, "read", other);
        }
      }
      set_written(d, mask, now);
    }
    at += count;
  }
}

// Whole dwords: one comparison tells that nothing is unknown. Reads and writes only.
template <uint32_t kDwords, AccessKind kKind>
void LdsShadow::access_dwords(const Wave& wave, const Lanes& address, uint32_t lanes, Stamp now,
                              Stamp horizon) {
  const size_t mine = static_cast<size_t>(wave.index) * dwords_;
  for (uint32_t left = lanes; left != 0; left &= left - 1) {
    const int lane = __builtin_ctz(left);
    const uint32_t d = address[lane] / 4;
    Stamp* writes = writes_.data() + d;
    Stamp* any_reads = any_reads_.data() + d;
    bool plain = address[lane] % 4 == 0;
    if (plain) {
      uint32_t unknown = 0;
      for (uint32_t i = 0; i < kDwords; ++i) {
        if constexpr (kKind == AccessKind::kRead) {
          // 0, never written, and what is at or above the horizon, as a split dword is.
          unknown |= static_cast<uint32_t>(writes[i] - 1 >= horizon - 1);
        } else {
          unknown |= static_cast<uint32_t>(writes[i] >= horizon) |
                     static_cast<uint32_t>(any_reads[i] >= horizon);
        }
      }
      plain = unknown == 0;
    }
    if (!plain) {
      access_bytes(wave, kKind, lane, address[lane], 4 * kDwords, now);
    } else if constexpr (kKind == AccessKind::kRead) {
      Stamp* reads = reads_.data() + mine + d;
      uint8_t* masks = read_masks_.data() + mine + d;
      for (uint32_t i = 0; i < kDwords; ++i) any_reads[i] = now;
      for (uint32_t i = 0; i < kDwords; ++i) reads[i] = now;
      for (uint32_t i = 0; i < kDwords; ++i) masks[i] = 15;
    } else {
      for (uint32_t i = 0; i < kDwords; ++i) writes[i] = now;
    }
  }
}

template <uint32_t kDwords>
void LdsShadow::access_dwords(const Wave& wave, AccessKind kind, const Lanes& address,
                              uint32_t lanes, Stamp now, Stamp horizon) {
  switch (kind) {
    case AccessKind::kRead:
      return access_dwords<kDwords, AccessKind::kRead>(wave, address, lanes, now, horizon);
    case AccessKind::kWrite:
      return access_dwords<kDwords, AccessKind::kWrite>(wave, address, lanes, now, horizon);
    case AccessKind::kAtomic:
      break;
  }
  for (uint32_t left = lanes; left != 0; left &= left - 1) {
    const int lane = __builtin_ctz(left);
    access_bytes(wave, kind, lane, address[lane], 4 * kDwords, now);
  }
}

void LdsShadow::access(const Wave& wave, AccessKind kind, const Lanes& address, uint32_t lanes,
                       uint32_t bytes, Sequence sequence) {
  // Split dwords must compare as above any horizon.
  const Stamp horizon = std::min(log_.horizon(wave), kSplit);
  const Stamp now = log_.record(wave, Counter::kDs, sequence, kind);
  switch (bytes) {
    case 4:
      return access_dwords<1>(wave, kind, address, lanes, now, horizon);
    case 8:
      return access_dwords<2>(wave, kind, address, lanes, now, horizon);
    case 12:
      return access_dwords<3>(wave, kind, address, lanes, now, horizon);
    case 16:
      return access_dwords<4>(wave, kind, address, lanes, now, horizon);
    default:
      break;
  }
  for (uint32_t left = lanes; left != 0; left &= left - 1) {
    const int lane = __builtin_ctz(left);
    access_bytes(wave, kind, lane, address[lane], bytes, now);
  }
}

LdsShadow& lds_shadow(Workgroup& group) {
  if (!group.lds_shadow) group.lds_shadow.reset(new LdsShadow);
  if (group.lds_shadow->serial != group.serial) group.lds_shadow->begin(group);
  return *group.lds_shadow;
}

void LdsShadowDeleter::operator()(LdsShadow* shadow) const { delete shadow; }

}  // namespace radiance::emulator
