// Exchanges between lanes that use LDS hardware but no LDS memory: swizzle, permute, bpermute.
#include <array>

#include "emulator/handlers.hpp"
#include "emulator/memory_strict.hpp"

namespace radiance::emulator {
namespace {

// The lane that each lane reads under a DS_SWIZZLE pattern (ISA: DS_SWIZZLE_B32).
int swizzle_source(uint32_t pattern, int lane) {
  const auto i = static_cast<uint32_t>(lane);
  const auto reversed = [](uint32_t x) {
    uint32_t out = 0;
    for (int bit = 0; bit < 5; ++bit) out |= (x >> bit & 1) << (4 - bit);
    return out;
  };
  uint32_t j;
  if (pattern >= 0xe000) {  // FFT
    const uint32_t mask = pattern & 0x1f;
    j = mask == 0x1f ? i : reversed(i) >> __builtin_popcount(mask) | (i & mask);
  } else if (pattern >= 0xc000) {  // rotate within the lanes that the mask leaves
    const uint32_t mask = pattern & 0x1f, amount = pattern >> 5 & 0x1f;
    const uint32_t moved = pattern >> 10 & 1 ? i - amount : i + amount;
    j = (i & mask) | (moved & ~mask);
  } else if (pattern & 0x8000) {  // quads
    j = (i & ~3u) | (pattern >> (2 * (i & 3)) & 3);
  } else {
    j = ((i & pattern) | pattern >> 5) ^ pattern >> 10;
  }
  return static_cast<int>(j & 31);
}

void begin(const Instruction& in, Wave& wave) {
  if (!wave.strict) return;
  check_memory_sources(in, wave);
  check_memory_destination(in, wave, in.dst[0], Counter::kDs);
}

void finish(const Instruction& in, Wave& wave, const Lanes& result) {
  wave.store(in.dst[0], result);
  if (!wave.strict) return;
  const Sequence sequence = wave.strict->issue(Counter::kDs);
  if (wave.exec()) {
    wave.strict->pend_vgprs(in, in.dst[0].index, 1, wave.exec(), Counter::kDs, sequence);
  }
}

// An inactive source lane gives zero.
void ds_swizzle(const Instruction& in, Wave& wave) {
  begin(in, wave);
  const Lanes& data = wave.vgpr[in.src[0].index];
  const auto pattern = static_cast<uint32_t>(in.mod.offset);
  Lanes result;
  for (int i = 0; i < kLanes; ++i) {
    const int j = swizzle_source(pattern, i);
    result[i] = wave.exec() >> j & 1 ? data[j] : 0;
  }
  finish(in, wave, result);
}

template <bool kFetchInactive>
void ds_bpermute(const Instruction& in, Wave& wave) {
  begin(in, wave);
  const Lanes &address = wave.vgpr[in.src[0].index], &data = wave.vgpr[in.src[1].index];
  const auto offset = static_cast<uint32_t>(in.mod.offset);
  Lanes result;
  for (int i = 0; i < kLanes; ++i) {
    const int j = static_cast<int>((address[i] + offset) / 4 % kLanes);
    result[i] = kFetchInactive || (wave.exec() >> j & 1) ? data[j] : 0;
  }
  finish(in, wave, result);
}

// Where several lanes send to one, the highest wins; a lane that nobody sends to gets zero.
void ds_permute(const Instruction& in, Wave& wave) {
  begin(in, wave);
  const Lanes &address = wave.vgpr[in.src[0].index], &data = wave.vgpr[in.src[1].index];
  const auto offset = static_cast<uint32_t>(in.mod.offset);
  Lanes result{};
  for (int i = 0; i < kLanes; ++i) {
    if (wave.exec() >> i & 1)
      result[static_cast<int>((address[i] + offset) / 4 % kLanes)] = data[i];
  }
  finish(in, wave, result);
}

constexpr std::array kOpcodes = {
    Opcode{"ds_swizzle_b32", ds_swizzle, OpClass::kLdsLoad, 1, kOwnStrictChecks},
    Opcode{"ds_bpermute_b32", ds_bpermute<false>, OpClass::kLdsLoad, 1, kOwnStrictChecks},
    Opcode{"ds_bpermute_fi_b32", ds_bpermute<true>, OpClass::kLdsLoad, 1, kOwnStrictChecks},
    Opcode{"ds_permute_b32", ds_permute, OpClass::kLdsLoad, 1, kOwnStrictChecks},
};

}  // namespace

std::span<const Opcode> ds_permute_opcodes() { return kOpcodes; }

}  // namespace radiance::emulator
