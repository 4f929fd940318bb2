// Global loads and stores, the transposing loads, and the cache controls.
#include <array>
#include <atomic>

#include "emulator/global_access.hpp"
#include "emulator/handlers.hpp"
#include "emulator/matrix_layout.hpp"
#include "emulator/memory_forms.hpp"
#include "emulator/memory_strict.hpp"
#include "emulator/scoped_access.hpp"

namespace radiance::emulator {
namespace {

Sequence begin_load(const Instruction& in, Wave& wave) {
  if (!wave.strict) return 0;
  check_memory_sources(in, wave);
  check_memory_destination(in, wave, in.dst[0], Counter::kLoad);
  return wave.strict->issue(Counter::kLoad);
}

void finish_load(const Instruction& in, Wave& wave, Sequence sequence) {
  if (wave.strict && wave.exec()) {
    wave.strict->pend_vgprs(in, in.dst[0].index, in.dst[0].registers, wave.exec(), Counter::kLoad,
                            sequence);
  }
}

template <LaneForm F>
void global_load(const Instruction& in, Wave& wave) {
  const Sequence sequence = begin_load(in, wave);
  const uint32_t lanes = wave.exec();
  LaneAddresses at;
  global_addresses(in, wave, in.src[0], in.src[1], at);
  check_global(at, lanes, {AccessKind::kRead, Counter::kLoad, sequence, F.bytes}, wave);
  load_scoped<F>(&wave.vgpr[in.dst[0].index], at, lanes, in.mod.scope);
  finish_load(in, wave, sequence);
}

template <LaneForm F>
void global_store(const Instruction& in, Wave& wave) {
  Sequence sequence = 0;
  if (wave.strict) {
    check_memory_sources(in, wave);
    sequence = wave.strict->issue(Counter::kStore);
  }
  const uint32_t lanes = wave.exec();
  LaneAddresses at;
  global_addresses(in, wave, in.src[0], in.src[2], at);
  check_global(at, lanes, {AccessKind::kWrite, Counter::kStore, sequence, F.bytes}, wave);
  store_scoped<F>(&wave.vgpr[in.src[1].index], at, lanes, in.mod.scope);
}

// GLOBAL_LOAD_TR_*: each lane loads 8 elements; blocks of 8 lanes then exchange them, so that an
// element's place among its lane's and the lane's place in its block change roles. The ISA wants
// all lanes active.
template <class Element>
void global_load_transposed(const Instruction& in, Wave& wave) {
  constexpr uint32_t bytes = 8 * sizeof(Element);
  const Sequence sequence = begin_load(in, wave);
  if (wave.exec() != kAllLanes) fault("a transposing load with inactive lanes, which is undefined");
  LaneAddresses at;
  global_addresses(in, wave, in.src[0], in.src[1], at);
  check_global(at, kAllLanes, {AccessKind::kRead, Counter::kLoad, sequence, bytes}, wave);
  Element loaded[kLanes][8];
  for (int i = 0; i < kLanes; ++i) {
    std::memcpy(loaded[i], reinterpret_cast<const void*>(at.at[i]), bytes);
  }
  for (int i = 0; i < kLanes; ++i) {
    Element row[8];
    for (int e = 0; e < 8; ++e) {
      row[e] = loaded[transposed_source_lane(i, e)][transposed_source_element(i)];
    }
    uint32_t words[bytes / 4];
    std::memcpy(words, row, bytes);
    for (size_t r = 0; r < bytes / 4; ++r) wave.vgpr[in.dst[0].index + r][i] = words[r];
  }
  finish_load(in, wave, sequence);
}

// Caches are not modelled: memory is coherent, and host threads order it by their atomics.
template <bool kInvalidates, bool kWritesBack>
void cache_control(const Instruction&, Wave& wave) {
  std::atomic_thread_fence(std::memory_order_acq_rel);
  if (!wave.strict) return;
  if (kInvalidates) wave.strict->issue(Counter::kLoad);
  if (kWritesBack) wave.strict->issue(Counter::kStore);
}

const char* addressable(Instruction& in) {
  const Operand& address = in.src[0];
  const Operand& base = in.src[in.sources - 1u];
  if (!address.is_vgpr()) return "a global access without address register";
  const bool has_base = base.is_sgpr();
  if (has_base ? base.registers != 2 : address.registers != 2) return "the address's width";
  return nullptr;
}

template <LaneForm F>
constexpr Opcode load(std::string_view name) {
  return {name, global_load<F>, OpClass::kGlobalLoad, 1, kOwnStrictChecks, {}, addressable};
}
template <LaneForm F>
constexpr Opcode store(std::string_view name) {
  return {name, global_store<F>, OpClass::kGlobalStore, 0, kOwnStrictChecks, {}, addressable};
}
template <class Element>
constexpr Opcode transposed(std::string_view name) {
  return {
      name,       global_load_transposed<Element>, OpClass::kGlobalLoad, 1, kOwnStrictChecks, {},
      addressable};
}

using namespace forms;

constexpr std::array kOpcodes = {
    load<kU8>("global_load_u8"),
    load<kI8>("global_load_i8"),
    load<kU16>("global_load_u16"),
    load<kI16>("global_load_i16"),
    load<kB32>("global_load_b32"),
    load<kB64>("global_load_b64"),
    load<kB96>("global_load_b96"),
    load<kB128>("global_load_b128"),
    load<kU8Low>("global_load_d16_u8"),
    load<kI8Low>("global_load_d16_i8"),
    load<kU16Low>("global_load_d16_b16"),
    load<kU8High>("global_load_d16_hi_u8"),
    load<kI8High>("global_load_d16_hi_i8"),
    load<kU16High>("global_load_d16_hi_b16"),
    store<kU8>("global_store_b8"),
    store<kU16>("global_store_b16"),
    store<kB32>("global_store_b32"),
    store<kB64>("global_store_b64"),
    store<kB96>("global_store_b96"),
    store<kB128>("global_store_b128"),
    store<kU8High>("global_store_d16_hi_b8"),
    store<kU16High>("global_store_d16_hi_b16"),
    transposed<uint8_t>("global_load_tr_b64"),
    transposed<uint16_t>("global_load_tr_b128"),
    Opcode{"global_inv", cache_control<true, false>, OpClass::kOther, 0, kOwnStrictChecks},
    Opcode{"global_wb", cache_control<false, true>, OpClass::kOther, 0, kOwnStrictChecks},
    Opcode{"global_wbinv", cache_control<true, true>, OpClass::kOther, 0, kOwnStrictChecks},
};

}  // namespace

std::span<const Opcode> global_opcodes() { return kOpcodes; }

}  // namespace radiance::emulator
