// LDS atomics, with and without the old value as result.
//
// The waves of a workgroup run on one host thread, so a plain read and write is atomic.
#include <array>
#include <cstring>

#include "emulator/atomic_operations.hpp"
#include "emulator/handlers.hpp"
#include "emulator/lds_access.hpp"
#include "emulator/memory_strict.hpp"

namespace radiance::emulator {
namespace {

template <class T>
T operand(const Wave& wave, unsigned reg, int lane) {
  if constexpr (sizeof(T) == 4) {
    return wave.vgpr[reg][lane];
  } else {
    return wave.vgpr[reg][lane] | static_cast<T>(wave.vgpr[reg + 1][lane]) << 32;
  }
}

template <class T>
void set_result(Wave& wave, unsigned reg, int lane, T value) {
  wave.vgpr[reg][lane] = static_cast<uint32_t>(value);
  if constexpr (sizeof(T) == 8) wave.vgpr[reg + 1][lane] = static_cast<uint32_t>(value >> 32);
}

Sequence begin(const Instruction& in, Wave& wave) {
  if (!wave.strict) return 0;
  check_memory_sources(in, wave);
  if (in.destinations) check_memory_destination(in, wave, in.dst[0], Counter::kDs);
  return wave.strict->issue(Counter::kDs);
}

void finish(const Instruction& in, Wave& wave, Sequence sequence) {
  if (wave.strict && in.destinations && wave.exec()) {
    wave.strict->pend_vgprs(in, in.dst[0].index, in.dst[0].registers, wave.exec(), Counter::kDs,
                            sequence);
  }
}

template <class Operation, class T>
void ds_atomic(const Instruction& in, Wave& wave) {
  const Sequence sequence = begin(in, wave);
  ++wave.counters->lds_store.instructions;
  LaneAddresses at;
  const uint32_t lanes = wave.exec();
  const uint32_t inside =
      lds_lanes(wave.vgpr[in.src[0].index], lanes,
                {AccessKind::kAtomic, sizeof(T), static_cast<uint32_t>(in.mod.offset), sizeof(T)},
                wave, sequence, at);
  const unsigned data = in.src[1].index, second = in.src[2].index;
  for (uint32_t left = lanes; left != 0; left &= left - 1) {
    const int i = __builtin_ctz(left);
    T old;
    std::memcpy(&old, reinterpret_cast<const void*>(at.at[i]), sizeof old);
    if (inside >> i & 1) {
      const T other = Operation::kOperands == 2 ? operand<T>(wave, second, i) : T{0};
      const T value = Operation::apply(old, operand<T>(wave, data, i), other);
      std::memcpy(reinterpret_cast<void*>(at.at[i]), &value, sizeof value);
    }
    if (in.destinations) set_result(wave, in.dst[0].index, i, old);
  }
  finish(in, wave, sequence);
}

// Two exchanges: both old values are read before either address is written in a lane.
template <class T, uint32_t kStride>
void ds_exchange_2addr(const Instruction& in, Wave& wave) {
  const Sequence sequence = begin(in, wave);
  ++wave.counters->lds_store.instructions;
  const uint32_t lanes = wave.exec();
  LaneAddresses at[2];
  uint32_t inside[2];
  const Lanes address = wave.vgpr[in.src[0].index];
  for (int which = 0; which < 2; ++which) {
    const uint32_t offset = kStride * (which == 0 ? in.mod.offset0 : in.mod.offset1);
    inside[which] = lds_lanes(address, lanes, {AccessKind::kAtomic, sizeof(T), offset, sizeof(T)},
                              wave, sequence, at[which]);
  }
  for (uint32_t left = lanes; left != 0; left &= left - 1) {
    const int i = __builtin_ctz(left);
    const T data[2] = {operand<T>(wave, in.src[1].index, i), operand<T>(wave, in.src[2].index, i)};
    T old[2];
    for (int which = 0; which < 2; ++which) {
      std::memcpy(&old[which], reinterpret_cast<const void*>(at[which].at[i]), sizeof(T));
    }
    for (int which = 0; which < 2; ++which) {
      if (inside[which] >> i & 1) {
        std::memcpy(reinterpret_cast<void*>(at[which].at[i]), &data[which], sizeof(T));
      }
      set_result(wave, in.dst[0].index + static_cast<unsigned>(which) * (sizeof(T) / 4), i,
                 old[which]);
    }
  }
  finish(in, wave, sequence);
}

// A wave's ordered counter at M0 + offset: grows or shrinks by the number of active lanes, all of
// which get the old value.
template <bool kAppend>
void ds_count_lanes(const Instruction& in, Wave& wave) {
  const Sequence sequence = begin(in, wave);
  if (wave.strict) wave.strict->check_sgprs(in, kM0, 1);
  ++wave.counters->lds_store.instructions;
  const uint32_t lanes = wave.exec();
  if (lanes != 0) {
    Lanes base;
    for (uint32_t& v : base.v) v = wave.m0() & 0xffffu;
    LaneAddresses at;
    const uint32_t first = lanes & (0u - lanes);  // one access for the wave
    const int lane = __builtin_ctz(first);
    const uint32_t inside =
        lds_lanes(base, first, {AccessKind::kAtomic, 4, static_cast<uint32_t>(in.mod.offset), 4},
                  wave, sequence, at);
    uint32_t old;
    std::memcpy(&old, reinterpret_cast<const void*>(at.at[lane]), sizeof old);
    if (inside) {
      const auto count = static_cast<uint32_t>(__builtin_popcount(lanes));
      const uint32_t value = kAppend ? old + count : old - count;
      std::memcpy(reinterpret_cast<void*>(at.at[lane]), &value, sizeof value);
    }
    for (uint32_t left = lanes; left != 0; left &= left - 1) {
      wave.vgpr[in.dst[0].index][__builtin_ctz(left)] = old;
    }
  }
  finish(in, wave, sequence);
}

constexpr Opcode entry(std::string_view name, Handler handler, uint8_t destinations) {
  return {name, handler, OpClass::kLdsAtomic, destinations, kOwnStrictChecks};
}

using namespace atomics;

constexpr std::array kOpcodes = {
    entry("ds_add_u32", ds_atomic<Add, uint32_t>, 0),
    entry("ds_sub_u32", ds_atomic<Subtract, uint32_t>, 0),
    entry("ds_rsub_u32", ds_atomic<ReverseSubtract, uint32_t>, 0),
    entry("ds_inc_u32", ds_atomic<Increment, uint32_t>, 0),
    entry("ds_dec_u32", ds_atomic<Decrement, uint32_t>, 0),
    entry("ds_min_i32", ds_atomic<MinSigned, uint32_t>, 0),
    entry("ds_max_i32", ds_atomic<MaxSigned, uint32_t>, 0),
    entry("ds_min_u32", ds_atomic<MinUnsigned, uint32_t>, 0),
    entry("ds_max_u32", ds_atomic<MaxUnsigned, uint32_t>, 0),
    entry("ds_and_b32", ds_atomic<And, uint32_t>, 0),
    entry("ds_or_b32", ds_atomic<Or, uint32_t>, 0),
    entry("ds_xor_b32", ds_atomic<Xor, uint32_t>, 0),
    entry("ds_mskor_b32", ds_atomic<MaskedOr, uint32_t>, 0),
    entry("ds_cmpstore_b32", ds_atomic<CompareExchange, uint32_t>, 0),
    entry("ds_min_num_f32", ds_atomic<MinNumber, uint32_t>, 0),
    entry("ds_max_num_f32", ds_atomic<MaxNumber, uint32_t>, 0),
    entry("ds_add_f32", ds_atomic<AddFloat, uint32_t>, 0),
    entry("ds_sub_clamp_u32", ds_atomic<SubtractClamped, uint32_t>, 0),
    entry("ds_cond_sub_u32", ds_atomic<SubtractIfGreaterEqual, uint32_t>, 0),
    entry("ds_pk_add_f16", ds_atomic<AddPackedF16, uint32_t>, 0),
    entry("ds_pk_add_bf16", ds_atomic<AddPackedBf16, uint32_t>, 0),
    entry("ds_add_rtn_u32", ds_atomic<Add, uint32_t>, 1),
    entry("ds_sub_rtn_u32", ds_atomic<Subtract, uint32_t>, 1),
    entry("ds_rsub_rtn_u32", ds_atomic<ReverseSubtract, uint32_t>, 1),
    entry("ds_inc_rtn_u32", ds_atomic<Increment, uint32_t>, 1),
    entry("ds_dec_rtn_u32", ds_atomic<Decrement, uint32_t>, 1),
    entry("ds_min_rtn_i32", ds_atomic<MinSigned, uint32_t>, 1),
    entry("ds_max_rtn_i32", ds_atomic<MaxSigned, uint32_t>, 1),
    entry("ds_min_rtn_u32", ds_atomic<MinUnsigned, uint32_t>, 1),
    entry("ds_max_rtn_u32", ds_atomic<MaxUnsigned, uint32_t>, 1),
    entry("ds_and_rtn_b32", ds_atomic<And, uint32_t>, 1),
    entry("ds_or_rtn_b32", ds_atomic<Or, uint32_t>, 1),
    entry("ds_xor_rtn_b32", ds_atomic<Xor, uint32_t>, 1),
    entry("ds_mskor_rtn_b32", ds_atomic<MaskedOr, uint32_t>, 1),
    entry("ds_storexchg_rtn_b32", ds_atomic<Exchange, uint32_t>, 1),
    entry("ds_cmpstore_rtn_b32", ds_atomic<CompareExchange, uint32_t>, 1),
    entry("ds_min_num_rtn_f32", ds_atomic<MinNumber, uint32_t>, 1),
    entry("ds_max_num_rtn_f32", ds_atomic<MaxNumber, uint32_t>, 1),
    entry("ds_add_rtn_f32", ds_atomic<AddFloat, uint32_t>, 1),
    entry("ds_sub_clamp_rtn_u32", ds_atomic<SubtractClamped, uint32_t>, 1),
    entry("ds_cond_sub_rtn_u32", ds_atomic<SubtractIfGreaterEqual, uint32_t>, 1),
    entry("ds_pk_add_rtn_f16", ds_atomic<AddPackedF16, uint32_t>, 1),
    entry("ds_pk_add_rtn_bf16", ds_atomic<AddPackedBf16, uint32_t>, 1),
    entry("ds_storexchg_2addr_rtn_b32", ds_exchange_2addr<uint32_t, 4>, 1),
    entry("ds_storexchg_2addr_stride64_rtn_b32", ds_exchange_2addr<uint32_t, 256>, 1),
    entry("ds_add_u64", ds_atomic<Add, uint64_t>, 0),
    entry("ds_sub_u64", ds_atomic<Subtract, uint64_t>, 0),
    entry("ds_rsub_u64", ds_atomic<ReverseSubtract, uint64_t>, 0),
    entry("ds_inc_u64", ds_atomic<Increment, uint64_t>, 0),
    entry("ds_dec_u64", ds_atomic<Decrement, uint64_t>, 0),
    entry("ds_min_i64", ds_atomic<MinSigned, uint64_t>, 0),
    entry("ds_max_i64", ds_atomic<MaxSigned, uint64_t>, 0),
    entry("ds_min_u64", ds_atomic<MinUnsigned, uint64_t>, 0),
    entry("ds_max_u64", ds_atomic<MaxUnsigned, uint64_t>, 0),
    entry("ds_and_b64", ds_atomic<And, uint64_t>, 0),
    entry("ds_or_b64", ds_atomic<Or, uint64_t>, 0),
    entry("ds_xor_b64", ds_atomic<Xor, uint64_t>, 0),
    entry("ds_mskor_b64", ds_atomic<MaskedOr, uint64_t>, 0),
    entry("ds_cmpstore_b64", ds_atomic<CompareExchange, uint64_t>, 0),
    entry("ds_min_num_f64", ds_atomic<MinNumber, uint64_t>, 0),
    entry("ds_max_num_f64", ds_atomic<MaxNumber, uint64_t>, 0),
    entry("ds_add_rtn_u64", ds_atomic<Add, uint64_t>, 1),
    entry("ds_sub_rtn_u64", ds_atomic<Subtract, uint64_t>, 1),
    entry("ds_rsub_rtn_u64", ds_atomic<ReverseSubtract, uint64_t>, 1),
    entry("ds_inc_rtn_u64", ds_atomic<Increment, uint64_t>, 1),
    entry("ds_dec_rtn_u64", ds_atomic<Decrement, uint64_t>, 1),
    entry("ds_min_rtn_i64", ds_atomic<MinSigned, uint64_t>, 1),
    entry("ds_max_rtn_i64", ds_atomic<MaxSigned, uint64_t>, 1),
    entry("ds_min_rtn_u64", ds_atomic<MinUnsigned, uint64_t>, 1),
    entry("ds_max_rtn_u64", ds_atomic<MaxUnsigned, uint64_t>, 1),
    entry("ds_and_rtn_b64", ds_atomic<And, uint64_t>, 1),
    entry("ds_or_rtn_b64", ds_atomic<Or, uint64_t>, 1),
    entry("ds_xor_rtn_b64", ds_atomic<Xor, uint64_t>, 1),
    entry("ds_mskor_rtn_b64", ds_atomic<MaskedOr, uint64_t>, 1),
    entry("ds_storexchg_rtn_b64", ds_atomic<Exchange, uint64_t>, 1),
    entry("ds_cmpstore_rtn_b64", ds_atomic<CompareExchange, uint64_t>, 1),
    entry("ds_min_num_rtn_f64", ds_atomic<MinNumber, uint64_t>, 1),
    entry("ds_max_num_rtn_f64", ds_atomic<MaxNumber, uint64_t>, 1),
    entry("ds_condxchg32_rtn_b64", ds_atomic<ConditionalExchange32, uint64_t>, 1),
    entry("ds_storexchg_2addr_rtn_b64", ds_exchange_2addr<uint64_t, 8>, 1),
    entry("ds_storexchg_2addr_stride64_rtn_b64", ds_exchange_2addr<uint64_t, 512>, 1),
    entry("ds_append", ds_count_lanes<true>, 1),
    entry("ds_consume", ds_count_lanes<false>, 1),
};

}  // namespace

std::span<const Opcode> ds_atomic_opcodes() { return kOpcodes; }

}  // namespace radiance::emulator
