// Global atomics.
#include <array>

#include "emulator/global_access.hpp"
#include "emulator/handlers.hpp"
#include "emulator/memory_atomic.hpp"
#include "emulator/memory_strict.hpp"

namespace radiance::emulator {
namespace {

template <class Operation, class T>
void global_atomic(const Instruction& in, Wave& wave) {
  const uint32_t lanes = wave.exec();
  const Counter counter = in.mod.returns ? Counter::kLoad : Counter::kStore;
  Sequence sequence = 0;
  if (wave.strict) {
    check_memory_sources(in, wave);
    if (in.mod.returns) check_memory_destination(in, wave, in.dst[0], counter);
    sequence = wave.strict->issue(counter);
  }
  LaneAddresses at;
  global_addresses(in, wave, in.src[0], in.src[2], at);
  check_global(at, lanes, {AccessKind::kAtomic, counter, sequence, sizeof(T)}, wave);
  update_lanes<Operation, T>(at, lanes, &wave.vgpr[in.src[1].index],
                             in.mod.returns ? &wave.vgpr[in.dst[0].index] : nullptr);
  if (wave.strict && in.mod.returns && lanes) {
    wave.strict->pend_vgprs(in, in.dst[0].index, in.dst[0].registers, lanes, counter, sequence);
  }
}

const char* addressable(Instruction& in) {
  if (in.sources != 3 || !in.src[0].is_vgpr() || !in.src[1].is_vgpr()) {
    return "an atomic without address and data registers";
  }
  const bool has_base = in.src[2].is_sgpr();
  if (has_base ? in.src[2].registers != 2 : in.src[0].registers != 2) return "the address's width";
  return nullptr;
}

template <class Operation, class T>
constexpr Opcode entry(std::string_view name) {
  return {name,       global_atomic<Operation, T>,           OpClass::kGlobalAtomic,
          0,          kOwnStrictChecks | kReturnsByModifier, {},
          addressable};
}

using namespace atomics;

constexpr std::array kOpcodes = {
    entry<Exchange, uint32_t>("global_atomic_swap_b32"),
    entry<CompareExchange, uint32_t>("global_atomic_cmpswap_b32"),
    entry<Add, uint32_t>("global_atomic_add_u32"),
    entry<Subtract, uint32_t>("global_atomic_sub_u32"),
    entry<SubtractClamped, uint32_t>("global_atomic_sub_clamp_u32"),
    entry<SubtractIfGreaterEqual, uint32_t>("global_atomic_cond_sub_u32"),
    entry<MinSigned, uint32_t>("global_atomic_min_i32"),
    entry<MinUnsigned, uint32_t>("global_atomic_min_u32"),
    entry<MaxSigned, uint32_t>("global_atomic_max_i32"),
    entry<MaxUnsigned, uint32_t>("global_atomic_max_u32"),
    entry<And, uint32_t>("global_atomic_and_b32"),
    entry<Or, uint32_t>("global_atomic_or_b32"),
    entry<Xor, uint32_t>("global_atomic_xor_b32"),
    entry<Increment, uint32_t>("global_atomic_inc_u32"),
    entry<Decrement, uint32_t>("global_atomic_dec_u32"),
    entry<MinNumber, uint32_t>("global_atomic_min_num_f32"),
    entry<MaxNumber, uint32_t>("global_atomic_max_num_f32"),
    entry<AddFloat, uint32_t>("global_atomic_add_f32"),
    entry<AddPackedF16, uint32_t>("global_atomic_pk_add_f16"),
    entry<AddPackedBf16, uint32_t>("global_atomic_pk_add_bf16"),
    entry<Exchange, uint64_t>("global_atomic_swap_b64"),
    entry<CompareExchange, uint64_t>("global_atomic_cmpswap_b64"),
    entry<Add, uint64_t>("global_atomic_add_u64"),
    entry<Subtract, uint64_t>("global_atomic_sub_u64"),
    entry<MinSigned, uint64_t>("global_atomic_min_i64"),
    entry<MinUnsigned, uint64_t>("global_atomic_min_u64"),
    entry<MaxSigned, uint64_t>("global_atomic_max_i64"),
    entry<MaxUnsigned, uint64_t>("global_atomic_max_u64"),
    entry<And, uint64_t>("global_atomic_and_b64"),
    entry<Or, uint64_t>("global_atomic_or_b64"),
    entry<Xor, uint64_t>("global_atomic_xor_b64"),
    entry<Increment, uint64_t>("global_atomic_inc_u64"),
    entry<Decrement, uint64_t>("global_atomic_dec_u64"),
};

}  // namespace

std::span<const Opcode> global_atomic_opcodes() { return kOpcodes; }

}  // namespace radiance::emulator
