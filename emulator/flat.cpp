// Flat loads, stores and atomics: each lane's address may be in global memory, LDS or scratch.
//
// Addresses in the shared and private apertures (registers.hpp) go to LDS and scratch. A flat
// access waits on dscnt beside loadcnt or storecnt, as it may take either way.
#include <array>

#include "emulator/global_access.hpp"
#include "emulator/handlers.hpp"
#include "emulator/lds_access.hpp"
#include "emulator/memory_atomic.hpp"
#include "emulator/memory_forms.hpp"
#include "emulator/memory_strict.hpp"
#include "emulator/scoped_access.hpp"
#include "emulator/scratch_access.hpp"

namespace radiance::emulator {
namespace {

struct Issued {
  Counter counter;  // beside dscnt
  Sequence memory = 0;
  Sequence lds = 0;
};

Issued begin(const Instruction& in, Wave& wave, Counter counter) {
  Issued issued{counter};
  if (!wave.strict) return issued;
  check_memory_sources(in, wave);
  if (in.destinations) {
    check_memory_destination(in, wave, in.dst[0], counter);
    check_memory_destination(in, wave, in.dst[0], Counter::kDs);
  }
  issued.memory = wave.strict->issue(counter);
  issued.lds = wave.strict->issue(Counter::kDs);
  return issued;
}

void finish(const Instruction& in, Wave& wave, const Issued& issued) {
  const uint32_t lanes = wave.exec();
  if (!wave.strict || !in.destinations || !lanes) return;
  const Operand& d = in.dst[0];
  wave.strict->pend_vgprs(in, d.index, d.registers, lanes, issued.counter, issued.memory);
  wave.strict->pend_vgprs(in, d.index, d.registers, lanes, Counter::kDs, issued.lds);
}

uint32_t in_aperture(const LaneAddresses& at, uint32_t lanes, uint64_t aperture) {
  uint32_t out = 0;
  for (int i = 0; i < kLanes; ++i) {
    out |= static_cast<uint32_t>(at.at[i] >> 32 == aperture >> 32) << i;
  }
  return out & lanes;
}

// Turns flat addresses into host addresses. Returns the lanes whose stores take place: all but
// those beyond LDS.
uint32_t flat_lanes(const Instruction& in, Wave& wave, AccessKind kind, uint32_t bytes,
                    const Issued& issued, LaneAddresses& at) {
  const uint32_t lanes = wave.exec();
  global_addresses(in, wave, in.src[0], Operand{}, at);
  const uint32_t shared = in_aperture(at, lanes, kSharedAperture);
  const uint32_t own = in_aperture(at, lanes, kPrivateAperture);
  uint32_t valid = lanes;
  if (shared | own) {
    Lanes offset;
    for (int i = 0; i < kLanes; ++i) offset[i] = static_cast<uint32_t>(at.at[i]);
    LaneAddresses mapped;
    if (shared) {
      const uint32_t alignment = kind == AccessKind::kAtomic ? bytes : std::min(bytes, 4u);
      valid &= ~shared |
               lds_lanes(offset, shared, {kind, bytes, 0, alignment}, wave, issued.lds, mapped);
      for (int i = 0; i < kLanes; ++i) {
        if (shared >> i & 1) at.at[i] = mapped.at[i];
      }
    }
    if (own) {
      scratch_lanes(offset, own, kind, bytes, wave, mapped);
      for (int i = 0; i < kLanes; ++i) {
        if (own >> i & 1) at.at[i] = mapped.at[i];
      }
    }
  }
  check_global(at, lanes & ~(shared | own), {kind, issued.counter, issued.memory, bytes}, wave);
  return valid;
}

template <LaneForm F>
void flat_load(const Instruction& in, Wave& wave) {
  const Issued issued = begin(in, wave, Counter::kLoad);
  LaneAddresses at;
  flat_lanes(in, wave, AccessKind::kRead, F.bytes, issued, at);
  load_scoped<F>(&wave.vgpr[in.dst[0].index], at, wave.exec(), in.mod.scope);
  finish(in, wave, issued);
}

template <LaneForm F>
void flat_store(const Instruction& in, Wave& wave) {
  const Issued issued = begin(in, wave, Counter::kStore);
  LaneAddresses at;
  const uint32_t valid = flat_lanes(in, wave, AccessKind::kWrite, F.bytes, issued, at);
  store_scoped<F>(&wave.vgpr[in.src[1].index], at, valid, in.mod.scope);
}

template <class Operation, class T>
void flat_atomic(const Instruction& in, Wave& wave) {
  const Issued issued = begin(in, wave, in.mod.returns ? Counter::kLoad : Counter::kStore);
  LaneAddresses at;
  const uint32_t valid = flat_lanes(in, wave, AccessKind::kAtomic, sizeof(T), issued, at);
  update_lanes<Operation, T>(at, valid, &wave.vgpr[in.src[1].index],
                             in.mod.returns ? &wave.vgpr[in.dst[0].index] : nullptr);
  finish(in, wave, issued);
}

const char* addressable(Instruction& in) {
  if (!in.src[0].is_vgpr() || in.src[0].registers != 2) return "the address's width";
  return nullptr;
}

template <LaneForm F>
constexpr Opcode load(std::string_view name) {
  return {name, flat_load<F>, OpClass::kGlobalLoad, 1, kOwnStrictChecks, {}, addressable};
}
template <LaneForm F>
constexpr Opcode store(std::string_view name) {
  return {name, flat_store<F>, OpClass::kGlobalStore, 0, kOwnStrictChecks, {}, addressable};
}
template <class Operation, class T>
constexpr Opcode atomic(std::string_view name) {
  return {name,
          flat_atomic<Operation, T>,
          OpClass::kGlobalAtomic,
          0,
          kOwnStrictChecks | kReturnsByModifier,
          {},
          addressable};
}

using namespace atomics;
using namespace forms;

constexpr std::array kOpcodes = {
    load<kU8>("flat_load_u8"),
    load<kI8>("flat_load_i8"),
    load<kU16>("flat_load_u16"),
    load<kI16>("flat_load_i16"),
    load<kB32>("flat_load_b32"),
    load<kB64>("flat_load_b64"),
    load<kB96>("flat_load_b96"),
    load<kB128>("flat_load_b128"),
    load<kU8Low>("flat_load_d16_u8"),
    load<kI8Low>("flat_load_d16_i8"),
    load<kU16Low>("flat_load_d16_b16"),
    load<kU8High>("flat_load_d16_hi_u8"),
    load<kI8High>("flat_load_d16_hi_i8"),
    load<kU16High>("flat_load_d16_hi_b16"),
    store<kU8>("flat_store_b8"),
    store<kU16>("flat_store_b16"),
    store<kB32>("flat_store_b32"),
    store<kB64>("flat_store_b64"),
    store<kB96>("flat_store_b96"),
    store<kB128>("flat_store_b128"),
    store<kU8High>("flat_store_d16_hi_b8"),
    store<kU16High>("flat_store_d16_hi_b16"),
    atomic<Exchange, uint32_t>("flat_atomic_swap_b32"),
    atomic<CompareExchange, uint32_t>("flat_atomic_cmpswap_b32"),
    atomic<Add, uint32_t>("flat_atomic_add_u32"),
    atomic<Subtract, uint32_t>("flat_atomic_sub_u32"),
    atomic<SubtractClamped, uint32_t>("flat_atomic_sub_clamp_u32"),
    atomic<SubtractIfGreaterEqual, uint32_t>("flat_atomic_cond_sub_u32"),
    atomic<MinSigned, uint32_t>("flat_atomic_min_i32"),
    atomic<MinUnsigned, uint32_t>("flat_atomic_min_u32"),
    atomic<MaxSigned, uint32_t>("flat_atomic_max_i32"),
    atomic<MaxUnsigned, uint32_t>("flat_atomic_max_u32"),
    atomic<And, uint32_t>("flat_atomic_and_b32"),
    atomic<Or, uint32_t>("flat_atomic_or_b32"),
    atomic<Xor, uint32_t>("flat_atomic_xor_b32"),
    atomic<Increment, uint32_t>("flat_atomic_inc_u32"),
    atomic<Decrement, uint32_t>("flat_atomic_dec_u32"),
    atomic<MinNumber, uint32_t>("flat_atomic_min_num_f32"),
    atomic<MaxNumber, uint32_t>("flat_atomic_max_num_f32"),
    atomic<AddFloat, uint32_t>("flat_atomic_add_f32"),
    atomic<AddPackedF16, uint32_t>("flat_atomic_pk_add_f16"),
    atomic<AddPackedBf16, uint32_t>("flat_atomic_pk_add_bf16"),
    atomic<Exchange, uint64_t>("flat_atomic_swap_b64"),
    atomic<CompareExchange, uint64_t>("flat_atomic_cmpswap_b64"),
    atomic<Add, uint64_t>("flat_atomic_add_u64"),
    atomic<Subtract, uint64_t>("flat_atomic_sub_u64"),
    atomic<MinSigned, uint64_t>("flat_atomic_min_i64"),
    atomic<MinUnsigned, uint64_t>("flat_atomic_min_u64"),
    atomic<MaxSigned, uint64_t>("flat_atomic_max_i64"),
    atomic<MaxUnsigned, uint64_t>("flat_atomic_max_u64"),
    atomic<And, uint64_t>("flat_atomic_and_b64"),
    atomic<Or, uint64_t>("flat_atomic_or_b64"),
    atomic<Xor, uint64_t>("flat_atomic_xor_b64"),
    atomic<Increment, uint64_t>("flat_atomic_inc_u64"),
    atomic<Decrement, uint64_t>("flat_atomic_dec_u64"),
};

}  // namespace

std::span<const Opcode> flat_opcodes() { return kOpcodes; }

}  // namespace radiance::emulator
