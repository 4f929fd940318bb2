#include "emulator/lds_access.hpp"

#include <fmt/format.h>

#include "emulator/lds_banks.hpp"

namespace radiance::emulator {
namespace {

alignas(16) constexpr uint8_t kZeros[16] = {};

void check_strictly(const Lanes& at, uint32_t lanes, const LdsRequest& request, Wave& wave,
                    Sequence sequence) {
  const uint32_t size = wave.group->lds_bytes;
  const char* verb = request.kind == AccessKind::kRead ? "loads" : "stores";
  uint32_t low_bits = 0;
  bool outside = false;
  for (int i = 0; i < kLanes; ++i) {
    const uint32_t active = 0u - (lanes >> i & 1);
    low_bits |= at.v[i] & active;
    outside |= (uint64_t{at.v[i]} + request.bytes > size) && active;
  }
  // Powers of two, but for the 12 bytes of b96, which are aligned to 4.
  for (uint32_t left = outside || low_bits % request.alignment != 0 ? lanes : 0; left != 0;
       left &= left - 1) {
    const int lane = __builtin_ctz(left);
    if (uint64_t{at[lane]} + request.bytes > size) {
      fault(fmt::format("lane {} {} {} bytes at {:#x} of LDS, of which the workgroup has {} bytes",
                        lane, verb, request.bytes, at[lane], size));
    }
    if (at[lane] % request.alignment != 0) {
      fault(fmt::format("misaligned access: lane {} {} {} bytes at {:#x} of LDS", lane, verb,
                        request.bytes, at[lane]));
    }
  }
  lds_shadow(*wave.group).access(wave, request.kind, at, lanes, request.bytes, sequence);
}

}  // namespace

uint32_t lds_lanes(const Lanes& address, uint32_t lanes, const LdsRequest& request, Wave& wave,
                   Sequence sequence, LaneAddresses& out) {
  Workgroup& group = *wave.group;
  const auto host = reinterpret_cast<uint64_t>(group.lds.data());
  const uint32_t offset = request.offset;
  Lanes at;
  for (int i = 0; i < kLanes; ++i) at.v[i] = address.v[i] + offset;
  // The last valid address; none where LDS is smaller than one access.
  const int64_t last = static_cast<int64_t>(group.lds_bytes) - request.bytes;
  int64_t largest = -1;
  for (int i = 0; i < kLanes; ++i) {
    out.at[i] = host + at.v[i];
    largest = at.v[i] > largest ? at.v[i] : largest;
  }
  Traffic& traffic =
      request.kind == AccessKind::kRead ? wave.counters->lds_load : wave.counters->lds_store;
  traffic.bytes += static_cast<uint64_t>(__builtin_popcount(lanes)) * request.bytes;
  wave.counters->lds_bank_conflict_cycles +=
      lds_conflict_cycles(at, lanes, static_cast<int>(request.bytes));
  if (wave.strict) check_strictly(at, lanes, request, wave, sequence);
  if (largest <= last) return lanes;

  uint32_t inside = 0;
  for (int i = 0; i < kLanes; ++i) {
    if (at.v[i] <= last) {
      inside |= 1u << i;
    } else {
      out.at[i] = reinterpret_cast<uint64_t>(kZeros);
    }
  }
  return lanes & inside;
}

}  // namespace radiance::emulator
