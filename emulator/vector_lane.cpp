// VALU: what moves values between lanes, or between lanes and scalars.
#include <bit>

#include <fmt/format.h>

#include "emulator/vector_ops.hpp"

namespace radiance::emulator {
namespace {

// The result of a scalar destination, or to a lane.
void mark_scalar(const Instruction& in, Wave& wave) {
  if (!wave.strict) return;
  wave.strict->check_overwrite_sgprs(in, in.dst[0].index, 1);
  wave.strict->mark_sgprs(in.dst[0].index, 1);
}

void check_scalar(const Instruction& in, const Wave& wave, int source) {
  const Operand& operand = in.src[static_cast<size_t>(source)];
  if (wave.strict && operand.is_sgpr()) wave.strict->check_sgprs(in, operand.index, 1);
}

// A lane that was never written gives an SGPR that counts as never written: compilers move what
// they do not use.
void read_one_lane(const Instruction& in, Wave& wave, unsigned lane) {
  const Operand& source = in.src[0];
  if (!source.is_vgpr()) {
    check_scalar(in, wave, 0);
    wave.set_scalar(in.dst[0], wave.scalar(source));
    mark_scalar(in, wave);
    return;
  }
  wave.set_scalar(in.dst[0], wave.vgpr[source.index].v[lane]);
  if (!wave.strict) return;
  StrictState& state = *wave.strict;
  state.check_overwrite_vgprs(in, source.index, 1);
  mark_scalar(in, wave);
  if (!(state.vgpr_written[source.index] >> lane & 1)) {
    state.sgpr_written.reset(in.dst[0].index);
  }
}

void readlane(const Instruction& in, Wave& wave) {
  check_scalar(in, wave, 1);
  read_one_lane(in, wave, wave.scalar(in.src[1]) & 31);
}

void readfirstlane(const Instruction& in, Wave& wave) {
  const uint32_t exec = wave.exec();
  read_one_lane(in, wave, exec ? static_cast<unsigned>(std::countr_zero(exec)) : 0);
}

void writelane(const Instruction& in, Wave& wave) {
  check_scalar(in, wave, 1);
  const unsigned lane = wave.scalar(in.src[1]) & 31;
  wave.vgpr[in.dst[0].index].v[lane] = wave.scalar(in.src[0]);
  if (!wave.strict) return;
  StrictState& state = *wave.strict;
  state.check_overwrite_vgprs(in, in.dst[0].index, 1);
  const Operand& source = in.src[0];
  if (source.is_sgpr()) state.check_overwrite_sgprs(in, source.index, 1);
  if (!source.is_sgpr() || state.sgpr_written.test(source.index)) {
    state.mark_vgprs(in.dst[0].index, 1, 1u << lane);
  }
}

// Lanes of a row (or, with Cross, of the other row of the pair) by 4-bit selectors; op_sel bit 0
// fetches inactive lanes too, bit 1 gives zero for those it does not.
template <bool Cross, typename Selector>
void permute_rows(const Instruction& in, Wave& wave, Selector selector) {
  const bool fetch_inactive = in.mod.op_sel & 1;
  const bool bound_control = in.mod.op_sel & 2;
  const uint32_t exec = wave.exec();
  Lanes buffer;
  const Lanes source = wave.lanes(in.src[0], buffer);
  Lanes d;
  uint32_t written = 0;
  uint32_t read = 0;
  for (int lane = 0; lane < kLanes; ++lane) {
    const int row = (lane & 16) ^ (Cross ? 16 : 0);
    const int from = row | static_cast<int>(selector(lane));
    const bool active = fetch_inactive || (exec >> from & 1);
    d.v[lane] = active ? source.v[from] : 0;
    if (active || bound_control) written |= 1u << lane;
    if (active && (exec >> lane & 1)) read |= 1u << from;
  }
  if (wave.strict && in.src[0].is_vgpr()) {
    wave.strict->check_vgprs(in, in.src[0].index, 1, read);
  }
  wave.store_lanes(in.dst[0].index, d, written & exec);
  if (wave.strict) {
    wave.strict->check_overwrite_vgprs(in, in.dst[0].index, 1);
    wave.strict->mark_vgprs(in.dst[0].index, 1, written & exec);
  }
}

template <bool Cross>
void permlane16(const Instruction& in, Wave& wave) {
  check_scalar(in, wave, 1);
  check_scalar(in, wave, 2);
  const uint64_t selectors = wave.scalar(in.src[1]) | static_cast<uint64_t>(wave.scalar(in.src[2]))
                                                          << 32;
  permute_rows<Cross>(in, wave, [&](int lane) { return selectors >> (4 * (lane & 15)) & 15; });
}

template <bool Cross>
void permlane16_var(const Instruction& in, Wave& wave) {
  if (wave.strict) wave.strict->check_vgprs(in, in.src[1].index, 1, wave.exec());
  const Lanes selectors = wave.vgpr[in.src[1].index];
  permute_rows<Cross>(in, wave, [&](int lane) { return selectors.v[lane] & 15; });
}

// v_permlane64 swaps the halves of a wave of 64; in wave32 it does nothing.
void nothing(const Instruction&, Wave&) {}

// Bits of the mask below the lane's own; all lanes are in the low half of a wave of 64.
void count_below(const Instruction& in, Wave& wave) {
  const U32::Source mask(in, wave, 0);
  const U32::Source base(in, wave, 1);
  U32::Result d;
  for (int i = 0; i < kLanes; ++i) {
    const uint32_t below = mask[i] & ((1u << i) - 1);
    d.set(i, static_cast<uint32_t>(std::popcount(below)) + base[i]);
  }
  d.commit(in, wave);
}
uint32_t count_below_high(uint32_t, uint32_t base) { return base; }

void swap32(const Instruction& in, Wave& wave) {
  const Lanes a = wave.vgpr[in.dst[0].index];
  const Lanes b = wave.vgpr[in.src[0].index];
  wave.store(in.dst[0], b);
  wave.store(in.src[0], a);
}

void swap16(const Instruction& in, Wave& wave) {
  Instruction forth = in;
  Instruction back = in;
  forth.src[0] = in.dst[0];
  back.dst[0] = in.src[0];
  Lanes a;
  Lanes b;
  source_b16(forth, wave, 0, a);
  source_b16(in, wave, 0, b);
  store_b16(in, wave, b);
  store_b16(back, wave, a);
}

// Register numbers moved by M0.
template <bool FromMoved, bool ToMoved>
void move_relative(const Instruction& in, Wave& wave) {
  const uint32_t from = in.src[0].index + (FromMoved ? wave.m0() : 0);
  const uint32_t to = in.dst[0].index + (ToMoved ? wave.m0() : 0);
  if (from >= kVectorRegisters || to >= kVectorRegisters) {
    fault("M0 moves a register out of range");
  }
  if (wave.strict) {
    wave.strict->check_vgprs(in, static_cast<uint16_t>(from), 1, wave.exec());
    wave.strict->check_overwrite_vgprs(in, static_cast<uint16_t>(to), 1);
    wave.strict->mark_vgprs(static_cast<uint16_t>(to), 1, wave.exec());
  }
  wave.store_lanes(to, wave.vgpr[from], wave.exec());
}

const char* need_vgpr_source(Instruction& in) {
  return in.src[0].is_vgpr() ? nullptr : "a scalar source";
}

constexpr Opcode own(std::string_view mnemonic, Handler handler,
                     const char* (*prepare)(Instruction&) = nullptr) {
  return {mnemonic, handler, OpClass::kVector, 1, kOwnStrictChecks, {}, prepare};
}

constexpr Opcode kOpcodes[] = {
    own("v_readlane_b32", readlane),
    own("v_readfirstlane_b32", readfirstlane),
    own("v_writelane_b32", writelane),
    own("v_permlane16_b32", permlane16<false>),
    own("v_permlanex16_b32", permlane16<true>),
    own("v_permlane16_var_b32", permlane16_var<false>),
    own("v_permlanex16_var_b32", permlane16_var<true>),
    own("v_permlane64_b32", nothing),
    valu("v_mbcnt_lo_u32_b32", count_below),
    valu("v_mbcnt_hi_u32_b32", k2<U32, count_below_high>),
    valu("v_swap_b32", swap32, kReadsDestination),
    valu("v_swap_b16", swap16, kReadsDestination),
    own("v_movrels_b32", move_relative<true, false>, need_vgpr_source),
    own("v_movreld_b32", move_relative<false, true>, need_vgpr_source),
    own("v_movrelsd_b32", move_relative<true, true>, need_vgpr_source),
};

}  // namespace

std::span<const Opcode> vector_lane_opcodes() { return kOpcodes; }

}  // namespace radiance::emulator
