// Scratch loads and stores: spilled registers and private arrays.
#include <array>

#include "emulator/handlers.hpp"
#include "emulator/memory_forms.hpp"
#include "emulator/memory_strict.hpp"
#include "emulator/scratch_access.hpp"

namespace radiance::emulator {
namespace {

// vaddr + saddr + offset, each of the first two optional.
void scratch_offsets(const Instruction& in, const Wave& wave, const Operand& address,
                     const Operand& base, Lanes& out) {
  uint32_t uniform = static_cast<uint32_t>(in.mod.offset);
  if (base.is_sgpr()) uniform += wave.scalar(base);
  for (int i = 0; i < kLanes; ++i) {
    out.v[i] = uniform + (address.is_vgpr() ? wave.vgpr[address.index].v[i] : 0);
  }
}

template <LaneForm F>
void scratch_load(const Instruction& in, Wave& wave) {
  const uint32_t lanes = wave.exec();
  Sequence sequence = 0;
  if (wave.strict) {
    check_memory_sources(in, wave);
    check_memory_destination(in, wave, in.dst[0], Counter::kLoad);
    sequence = wave.strict->issue(Counter::kLoad);
  }
  Lanes offset;
  scratch_offsets(in, wave, in.src[0], in.src[1], offset);
  LaneAddresses at;
  scratch_lanes(offset, lanes, AccessKind::kRead, F.bytes, wave, at);
  load_lanes<F>(&wave.vgpr[in.dst[0].index], at, lanes);
  if (wave.strict && lanes) {
    wave.strict->pend_vgprs(in, in.dst[0].index, in.dst[0].registers, lanes, Counter::kLoad,
                            sequence);
  }
}

template <LaneForm F>
void scratch_store(const Instruction& in, Wave& wave) {
  const uint32_t lanes = wave.exec();
  if (wave.strict) {
    const StrictState& state = *wave.strict;
    if (in.src[0].is_vgpr()) state.check_vgprs(in, in.src[0].index, 1, lanes);
    if (in.src[2].is_sgpr()) state.check_sgprs(in, in.src[2].index, 1);
    // A spill may hold what was never written and is never used; but it must have arrived.
    state.check_overwrite_vgprs(in, in.src[1].index, in.src[1].registers);
    wave.strict->issue(Counter::kStore);
  }
  Lanes offset;
  scratch_offsets(in, wave, in.src[0], in.src[2], offset);
  LaneAddresses at;
  scratch_lanes(offset, lanes, AccessKind::kWrite, F.bytes, wave, at);
  store_lanes<F>(&wave.vgpr[in.src[1].index], at, lanes);
}

template <LaneForm F>
constexpr Opcode load(std::string_view name) {
  return {name, scratch_load<F>, OpClass::kScratch, 1, kOwnStrictChecks};
}
template <LaneForm F>
constexpr Opcode store(std::string_view name) {
  return {name, scratch_store<F>, OpClass::kScratch, 0, kOwnStrictChecks};
}

using namespace forms;

constexpr std::array kOpcodes = {
    load<kU8>("scratch_load_u8"),
    load<kI8>("scratch_load_i8"),
    load<kU16>("scratch_load_u16"),
    load<kI16>("scratch_load_i16"),
    load<kB32>("scratch_load_b32"),
    load<kB64>("scratch_load_b64"),
    load<kB96>("scratch_load_b96"),
    load<kB128>("scratch_load_b128"),
    load<kU8Low>("scratch_load_d16_u8"),
    load<kI8Low>("scratch_load_d16_i8"),
    load<kU16Low>("scratch_load_d16_b16"),
    load<kU8High>("scratch_load_d16_hi_u8"),
    load<kI8High>("scratch_load_d16_hi_i8"),
    load<kU16High>("scratch_load_d16_hi_b16"),
    store<kU8>("scratch_store_b8"),
    store<kU16>("scratch_store_b16"),
    store<kB32>("scratch_store_b32"),
    store<kB64>("scratch_store_b64"),
    store<kB96>("scratch_store_b96"),
    store<kB128>("scratch_store_b128"),
    store<kU8High>("scratch_store_d16_hi_b8"),
    store<kU16High>("scratch_store_d16_hi_b16"),
};

}  // namespace

std::span<const Opcode> scratch_opcodes() { return kOpcodes; }

}  // namespace radiance::emulator
