// LDS loads and stores.
#include <array>

#include "emulator/handlers.hpp"
#include "emulator/lds_access.hpp"
#include "emulator/memory_forms.hpp"
#include "emulator/memory_strict.hpp"

namespace radiance::emulator {
namespace {

// 2addr forms give offsets in elements, or in 64 of them.
enum class Addressing : uint8_t { kSingle, kTwo, kTwoStride64 };

constexpr uint32_t alignment_of(LaneForm form) {
  return form.bytes == 12 ? 4 : static_cast<uint32_t>(form.bytes);
}

template <LaneForm F, Addressing A>
uint32_t offset_of(const Modifiers& mod, size_t which) {
  if constexpr (A == Addressing::kSingle) {
    return static_cast<uint32_t>(mod.offset);
  } else {
    constexpr uint32_t unit = F.bytes * (A == Addressing::kTwo ? 1 : 64);
    return unit * (which == 0 ? mod.offset0 : mod.offset1);
  }
}

template <LaneForm F, Addressing A>
void ds_load(const Instruction& in, Wave& wave) {
  const uint32_t lanes = wave.exec();
  Sequence sequence = 0;
  if (wave.strict) {
    check_memory_sources(in, wave);
    check_memory_destination(in, wave, in.dst[0], Counter::kDs);
    sequence = wave.strict->issue(Counter::kDs);
  }
  ++wave.counters->lds_load.instructions;
  const unsigned dst = in.dst[0].index;
  // A copy: the destination may be the address register, and the second access needs it still.
  const Lanes address = wave.vgpr[in.src[0].index];
  for (unsigned i = 0; i < (A == Addressing::kSingle ? 1 : 2); ++i) {
    LaneAddresses at;
    lds_lanes(address, lanes,
              {AccessKind::kRead, F.bytes, offset_of<F, A>(in.mod, i), alignment_of(F)}, wave,
              sequence, at);
    load_lanes<F>(&wave.vgpr[dst + i * static_cast<unsigned>(F.registers())], at, lanes);
  }
  if (wave.strict && lanes) {
    wave.strict->pend_vgprs(in, in.dst[0].index, in.dst[0].registers, lanes, Counter::kDs,
                            sequence);
  }
}

template <LaneForm F, Addressing A>
void ds_store(const Instruction& in, Wave& wave) {
  const uint32_t lanes = wave.exec();
  Sequence sequence = 0;
  if (wave.strict) {
    check_memory_sources(in, wave);
    sequence = wave.strict->issue(Counter::kDs);
  }
  ++wave.counters->lds_store.instructions;
  for (size_t i = 0; i < (A == Addressing::kSingle ? 1 : 2); ++i) {
    LaneAddresses at;
    const uint32_t inside =
        lds_lanes(wave.vgpr[in.src[0].index], lanes,
                  {AccessKind::kWrite, F.bytes, offset_of<F, A>(in.mod, i), alignment_of(F)}, wave,
                  sequence, at);
    store_lanes<F>(&wave.vgpr[in.src[1 + i].index], at, inside);
  }
}

const char* registers_fit(Instruction& in) {
  for (int i = 0; i < in.sources; ++i) {
    if (!in.src[static_cast<size_t>(i)].is_vgpr()) return "an LDS operand that is no VGPR";
  }
  return nullptr;
}

template <LaneForm F, Addressing A = Addressing::kSingle>
constexpr Opcode load(std::string_view name) {
  constexpr uint32_t keeps = F.part == RegisterPart::kWhole ? kNoFlags : kReadsDestination;
  return {name, ds_load<F, A>, OpClass::kLdsLoad, 1, kOwnStrictChecks | keeps, {}, registers_fit};
}

template <LaneForm F, Addressing A = Addressing::kSingle>
constexpr Opcode store(std::string_view name) {
  return {name, ds_store<F, A>, OpClass::kLdsStore, 0, kOwnStrictChecks, {}, registers_fit};
}

using namespace forms;

constexpr std::array kOpcodes = {
    load<kU8>("ds_load_u8"),
    load<kI8>("ds_load_i8"),
    load<kU16>("ds_load_u16"),
    load<kI16>("ds_load_i16"),
    load<kU8Low>("ds_load_u8_d16"),
    load<kI8Low>("ds_load_i8_d16"),
    load<kU16Low>("ds_load_u16_d16"),
    load<kU8High>("ds_load_u8_d16_hi"),
    load<kI8High>("ds_load_i8_d16_hi"),
    load<kU16High>("ds_load_u16_d16_hi"),
    load<kB32>("ds_load_b32"),
    load<kB64>("ds_load_b64"),
    load<kB96>("ds_load_b96"),
    load<kB128>("ds_load_b128"),
    load<kB32, Addressing::kTwo>("ds_load_2addr_b32"),
    load<kB32, Addressing::kTwoStride64>("ds_load_2addr_stride64_b32"),
    load<kB64, Addressing::kTwo>("ds_load_2addr_b64"),
    load<kB64, Addressing::kTwoStride64>("ds_load_2addr_stride64_b64"),
    store<kU8>("ds_store_b8"),
    store<kU16>("ds_store_b16"),
    store<kU8High>("ds_store_b8_d16_hi"),
    store<kU16High>("ds_store_b16_d16_hi"),
    store<kB32>("ds_store_b32"),
    store<kB64>("ds_store_b64"),
    store<kB96>("ds_store_b96"),
    store<kB128>("ds_store_b128"),
    store<kB32, Addressing::kTwo>("ds_store_2addr_b32"),
    store<kB32, Addressing::kTwoStride64>("ds_store_2addr_stride64_b32"),
    store<kB64, Addressing::kTwo>("ds_store_2addr_b64"),
    store<kB64, Addressing::kTwoStride64>("ds_store_2addr_stride64_b64"),
};

}  // namespace

std::span<const Opcode> ds_opcodes() { return kOpcodes; }

}  // namespace radiance::emulator
