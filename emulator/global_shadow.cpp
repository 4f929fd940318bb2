#include "emulator/global_shadow.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace radiance::emulator {
namespace {

[[noreturn]] void race(const Wave& wave, AccessKind kind, int lane, uint64_t address,
                       const char* what, uint32_t other) {
  const char* verb = kind == AccessKind::kRead    ? "reads"
                     : kind == AccessKind::kWrite ? "writes"
                                                  : "updates";
  fault(fmt::format(
      "race in global memory: lane {} of wave {} {} the byte at {:#x}, which wave {} has {}, "
      "and no barrier stands between the end of that access and this one",
      lane, wave.index, verb, address, other, what));
}

uint64_t hash(uint64_t line) { return line * 0x9e3779b97f4a7c15ull >> 20; }

}  // namespace

void GlobalShadow::begin(const Workgroup& group) {
  serial = group.serial;
  log_.clear();
  forget();
}

void GlobalShadow::forget() {
  lines_.clear();
  reads_.clear();
  read_parts_.clear();
  writes_.clear();
  bytes_.clear();
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
  lines_.emplace_back().number = number;
  return lines_.back();
}

GlobalShadow::Reads& GlobalShadow::reads_of(Line& line, uint32_t wave) {
  for (uint32_t i = line.reads; i != kNone; i = reads_[i].next) {
    if (reads_[i].wave == wave) return reads_[i];
  }
  Reads& added = reads_.emplace_back();
  added.wave = wave;
  added.next = line.reads;
  line.reads = static_cast<uint32_t>(reads_.size() - 1);
  return added;
}

GlobalShadow::ReadParts& GlobalShadow::parts_of(Reads& reads) {
  if (reads.parts == kNone) {
    reads.parts = static_cast<uint32_t>(read_parts_.size());
    read_parts_.push_back({});
  }
  return read_parts_[reads.parts];
}

// Reads of other bytes in this phase are joined; older ones were before a barrier and are dropped,
// as they must not be credited with a read as late as this.
void GlobalShadow::note_read(const Wave& wave, ReadParts& parts, size_t dword, uint32_t mask,
                             Stamp now) const {
  const bool join = parts.stamps[dword] >= log_.phase_start(wave);
  parts.masks[dword] = static_cast<uint8_t>(join ? parts.masks[dword] | mask : mask);
  parts.stamps[dword] = now;
}

Stamp* GlobalShadow::writes_of(Line& line) {
  if (line.writes == kNone) {
    line.writes = static_cast<uint32_t>(writes_.size());
    writes_.push_back({});
  }
  return writes_[line.writes].data();
}

void GlobalShadow::access_bytes(const Wave& wave, AccessKind kind, int lane, uint64_t address,
                                uint32_t bytes, Stamp now) {
  const uint64_t end = address + bytes;
  for (uint64_t at = address; at < end;) {
    const auto first = static_cast<uint32_t>(at % 4);
    const uint32_t count = static_cast<uint32_t>(std::min<uint64_t>(4 - first, end - at));
    const uint32_t mask = byte_mask(first, count);
    const size_t d = at / 4 % kLineDwords;
    Line& line = line_at(at / kLineBytes);
    for (uint32_t b = first; line.writes != kNone && b < first + count; ++b) {
      const Stamp last =
          line.bytes == kNone ? writes_[line.writes][d] : bytes_[line.bytes][4 * d + b];
      if (last == 0 || log_.known(wave, last)) continue;
      if (kind == AccessKind::kAtomic && log_.atomic(last)) continue;
      race(wave, kind, lane, at - first + b, log_.atomic(last) ? "updated" : "written",
           log_.wave_of(last));
    }
    if (kind == AccessKind::kRead) {
      note_read(wave, parts_of(reads_of(line, wave.index)), d, mask, now);
      line.last_read = now;
    } else {
      for (uint32_t i = line.reads; i != kNone; i = reads_[i].next) {
        const Reads& reads = reads_[i];
        bool unknown = reads.whole != 0 && !log_.known(wave, reads.whole);
        if (reads.parts != kNone) {
          const ReadParts& parts = read_parts_[reads.parts];
          unknown |= (parts.masks[d] & mask) && !log_.known(wave, parts.stamps[d]);
        }
        if (unknown) race(wave, kind, lane, at, "read", reads.wave);
      }
      Stamp* writes = writes_of(line);
      if (mask != 15 && line.bytes == kNone) {
        line.bytes = static_cast<uint32_t>(bytes_.size());
        auto& each = bytes_.emplace_back();
        for (size_t i = 0; i < each.size(); ++i) each[i] = writes[i / 4];
      }
      if (line.bytes != kNone) {
        for (uint32_t b = first; b < first + count; ++b) bytes_[line.bytes][4 * d + b] = now;
      }
      writes[d] = now;  // the dword's latest, where its bytes have their own
    }
    at += count;
  }
}

template <uint32_t kDwords>
uint32_t GlobalShadow::read_line(const Wave& wave, const LaneAddresses& at, int lane,
                                 uint32_t lanes, Stamp now, Stamp horizon) {
  if constexpr (kLineDwords % kDwords != 0) return 0;
  constexpr int count = kLineDwords / kDwords;
  const uint64_t first = at.at[lane];
  if (lane + count > kLanes || first % kLineBytes != 0) return 0;
  const uint32_t covering = static_cast<uint32_t>((uint64_t{1} << count) - 1) << lane;
  if ((lanes & covering) != covering) return 0;
  uint64_t apart = 0;
  for (int i = 1; i < count; ++i) {
    apart |= at.at[lane + i] ^ (first + static_cast<uint64_t>(i) * 4 * kDwords);
  }
  if (apart != 0) return 0;
  Line& line = line_at(first / kLineBytes);
  if (line.writes != kNone) {
    const Writes& writes = writes_[line.writes];
    if (std::ranges::any_of(writes, [=](Stamp stamp) { return stamp >= horizon; })) return 0;
  }
  reads_of(line, wave.index).whole = now;
  line.last_read = now;
  return covering;
}

void GlobalShadow::read_small(const Wave& wave, const GlobalAccess& access, const LaneAddresses& at,
                              uint32_t lanes, Stamp now) {
  uint64_t number = ~uint64_t{0};
  bool plain = false;
  uint32_t parts = kNone;
  for (uint32_t left = lanes; left != 0; left &= left - 1) {
    const int lane = __builtin_ctz(left);
    const uint64_t address = at.at[lane];
    if (address / kLineBytes != number) {
      number = address / kLineBytes;
      Line& line = line_at(number);
      plain = line.writes == kNone;
      if (plain) {
        Reads& reads = reads_of(line, wave.index);
        parts_of(reads);
        parts = reads.parts;
        line.last_read = now;
      }
    }
    if (plain && address % access.bytes == 0) {
      note_read(wave, read_parts_[parts], address / 4 % kLineDwords,
                byte_mask(static_cast<uint32_t>(address % 4), access.bytes), now);
    } else {
      access_bytes(wave, access.kind, lane, address, access.bytes, now);
      number = ~uint64_t{0};
    }
  }
}

// Whole dwords: what is known by its stamp alone costs a comparison, and lines that nobody wrote
// not even that.
template <uint32_t kDwords>
void GlobalShadow::access_dwords(const Wave& wave, const GlobalAccess& access,
                                 const LaneAddresses& at, uint32_t lanes, Stamp now,
                                 Stamp horizon) {
  Line* line = nullptr;
  ReadParts* parts = nullptr;
  for (uint32_t left = lanes; left != 0;) {
    const int lane = __builtin_ctz(left);
    const uint64_t address = at.at[lane];
    if (access.kind == AccessKind::kRead && address % kLineBytes == 0) {
      if (const uint32_t read = read_line<kDwords>(wave, at, lane, left, now, horizon)) {
        left &= ~read;
        line = nullptr;  // it may have moved
        continue;
      }
    }
    left &= left - 1;
    const size_t d = address / 4 % kLineDwords;
    bool plain = address % 4 == 0 && d + kDwords <= kLineDwords;
    if (plain && (!line || line->number != address / kLineBytes)) {
      line = &line_at(address / kLineBytes);
      parts = nullptr;
    }
    if (plain && line->writes != kNone) {
      const Stamp* writes = writes_[line->writes].data() + d;
      for (uint32_t i = 0; i < kDwords; ++i) plain &= writes[i] < horizon;
    }
    if (plain && access.kind == AccessKind::kRead) {
      if (!parts) parts = &parts_of(reads_of(*line, wave.index));
      for (uint32_t i = 0; i < kDwords; ++i) parts->stamps[d + i] = now;
      for (uint32_t i = 0; i < kDwords; ++i) parts->masks[d + i] = 15;
      line->last_read = now;
    } else if (plain && line->bytes == kNone && line->last_read < horizon) {
      Stamp* writes = writes_of(*line) + d;
      for (uint32_t i = 0; i < kDwords; ++i) writes[i] = now;
    } else {
      access_bytes(wave, access.kind, lane, address, access.bytes, now);
      line = nullptr;  // it may have moved
    }
  }
}

void GlobalShadow::access(const Wave& wave, const GlobalAccess& access, const LaneAddresses& at,
                          uint32_t lanes) {
  const Stamp horizon = log_.horizon(wave);
  const Stamp now = log_.record(wave, access.counter, access.sequence, access.kind);
  if (access.kind == AccessKind::kRead && access.bytes < 4) {
    return read_small(wave, access, at, lanes, now);
  }
  if (access.kind != AccessKind::kAtomic) {
    switch (access.bytes) {
      case 4:
        return access_dwords<1>(wave, access, at, lanes, now, horizon);
      case 8:
        return access_dwords<2>(wave, access, at, lanes, now, horizon);
      case 12:
        return access_dwords<3>(wave, access, at, lanes, now, horizon);
      case 16:
        return access_dwords<4>(wave, access, at, lanes, now, horizon);
      default:
        break;
    }
  }
  for (uint32_t left = lanes; left != 0; left &= left - 1) {
    const int lane = __builtin_ctz(left);
    access_bytes(wave, access.kind, lane, at.at[lane], access.bytes, now);
  }
}

GlobalShadow& global_shadow(Workgroup& group) {
  if (!group.global_shadow) group.global_shadow.reset(new GlobalShadow);
  if (group.global_shadow->serial != group.serial) group.global_shadow->begin(group);
  return *group.global_shadow;
}

void GlobalShadowDeleter::operator()(GlobalShadow* shadow) const { delete shadow; }

}  // namespace radiance::emulator
