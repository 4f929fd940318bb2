// SALU integer arithmetic, logic and EXEC handling.
#include <bit>

#include "emulator/handlers.hpp"
#include "emulator/wave.hpp"

namespace radiance::emulator {
namespace {

// How an operation sets SCC.
enum class Scc : uint8_t { kKeeps, kNonzero, kByOperation };

template <typename T>
T source(const Wave& wave, const Operand& operand) {
  if constexpr (sizeof(T) == 8) {
    return static_cast<T>(wave.scalar64(operand));
  } else {
    return static_cast<T>(wave.scalar(operand));
  }
}

template <typename T>
void result(const Instruction& in, Wave& wave, T value) {
  if constexpr (sizeof(T) == 8) {
    wave.set_scalar64(in.dst[0], static_cast<uint64_t>(value));
  } else {
    wave.set_scalar(in.dst[0], static_cast<uint32_t>(value));
  }
}

// D = Op(S0); D = Op(S0, S1). Operations that make SCC themselves take it as a last argument.
template <typename D, typename A, Scc S, auto Op>
void unary(const Instruction& in, Wave& wave) {
  const D d = Op(source<A>(wave, in.src[0]));
  result<D>(in, wave, d);
  if constexpr (S == Scc::kNonzero) wave.scc() = d != 0;
}

template <typename D, typename A, typename B, Scc S, auto Op>
void binary(const Instruction& in, Wave& wave) {
  const A a = source<A>(wave, in.src[0]);
  const B b = source<B>(wave, in.src[1]);
  if constexpr (S == Scc::kByOperation) {
    uint32_t scc = wave.scc();
    const D d = Op(a, b, scc);
    result<D>(in, wave, d);
    wave.scc() = scc;
  } else {
    const D d = Op(a, b);
    result<D>(in, wave, d);
    if constexpr (S == Scc::kNonzero) wave.scc() = d != 0;
  }
}

template <typename T, auto Op>
void compare(const Instruction& in, Wave& wave) {
  wave.scc() = Op(source<T>(wave, in.src[0]), source<T>(wave, in.src[1]));
}

template <typename T>
void conditional_move(const Instruction& in, Wave& wave) {
  if (wave.scc()) result<T>(in, wave, source<T>(wave, in.src[0]));
}

template <typename T>
void select(const Instruction& in, Wave& wave) {
  result<T>(in, wave, source<T>(wave, in.src[wave.scc() ? 0 : 1]));
}

// D = EXEC; EXEC = Op(S0, EXEC).
template <typename T, auto Op>
void save_exec(const Instruction& in, Wave& wave) {
  const T s = source<T>(wave, in.src[0]);
  T exec = wave.exec();
  if constexpr (sizeof(T) == 8) exec |= static_cast<T>(wave.sgpr[kExecHi]) << 32;
  const T now = Op(s, exec);
  result<T>(in, wave, exec);
  wave.sgpr[kExecLo] = static_cast<uint32_t>(now);
  if constexpr (sizeof(T) == 8) wave.sgpr[kExecHi] = static_cast<uint32_t>(now >> 32);
  wave.scc() = now != 0;
}

// EXEC = Op(S0, EXEC); D = EXEC.
template <typename T, auto Op>
void write_exec(const Instruction& in, Wave& wave) {
  T exec = wave.exec();
  if constexpr (sizeof(T) == 8) exec |= static_cast<T>(wave.sgpr[kExecHi]) << 32;
  const T now = Op(source<T>(wave, in.src[0]), exec);
  wave.sgpr[kExecLo] = static_cast<uint32_t>(now);
  if constexpr (sizeof(T) == 8) wave.sgpr[kExecHi] = static_cast<uint32_t>(now >> 32);
  result<T>(in, wave, now);
  wave.scc() = now != 0;
}

// The 16-bit immediate of SOPK, sign-extended.
int32_t sopk(const Instruction& in) { return static_cast<int16_t>(in.src[0].value); }

void movk(const Instruction& in, Wave& wave) {
  wave.set_scalar(in.dst[0], static_cast<uint32_t>(sopk(in)));
}
void cmovk(const Instruction& in, Wave& wave) {
  if (wave.scc()) movk(in, wave);
}
void addk(const Instruction& in, Wave& wave) {
  const auto old = static_cast<int32_t>(wave.scalar(in.dst[0]));
  int32_t sum = 0;
  wave.scc() = __builtin_add_overflow(old, sopk(in), &sum);
  wave.set_scalar(in.dst[0], static_cast<uint32_t>(sum));
}
void mulk(const Instruction& in, Wave& wave) {
  wave.set_scalar(in.dst[0], wave.scalar(in.dst[0]) * static_cast<uint32_t>(sopk(in)));
}

// s_bitset: only one bit of the destination changes.
template <typename T, bool Set>
void bitset(const Instruction& in, Wave& wave) {
  const T bit = T{1} << (wave.scalar(in.src[0]) & (sizeof(T) * 8 - 1));
  const T old = source<T>(wave, in.dst[0]);
  result<T>(in, wave, Set ? old | bit : old & ~bit);
}

// Register numbers moved by M0.
template <bool FromMoved, bool ToMoved, int Dwords>
void move_relative(const Instruction& in, Wave& wave) {
  const uint32_t from = in.src[0].index + (FromMoved ? wave.m0() : 0);
  const uint32_t to = in.dst[0].index + (ToMoved ? wave.m0() : 0);
  if (from + Dwords > kVccLo || to + Dwords > kVccLo) fault("M0 moves a register out of range");
  const uint64_t value = wave.sgpr[from] | static_cast<uint64_t>(wave.sgpr[from + 1]) << 32;
  wave.sgpr[to] = static_cast<uint32_t>(value);
  if constexpr (Dwords == 2) wave.sgpr[to + 1] = static_cast<uint32_t>(value >> 32);
}

template <typename T>
T reverse_bits(T x) {
  T out = 0;
  for (size_t i = 0; i < sizeof(T) * 8; ++i) out |= (x >> i & 1) << (sizeof(T) * 8 - 1 - i);
  return out;
}

// -1 where no bit is found.
template <typename T>
int32_t trailing_zeros(T x) {
  return x ? std::countr_zero(x) : -1;
}
template <typename T>
int32_t leading_zeros(T x) {
  return x ? std::countl_zero(x) : -1;
}
// Leading bits equal to the sign; -1 where all are.
template <typename T>
int32_t leading_signs(T x) {
  const T flipped = x >> (sizeof(T) * 8 - 1) ? ~x : x;
  return flipped ? std::countl_zero(flipped) : -1;
}

uint64_t replicate_bits(uint32_t x) {
  uint64_t out = 0;
  for (int i = 0; i < 32; ++i) out |= static_cast<uint64_t>(x >> i & 1) * 3 << (2 * i);
  return out;
}

template <typename T>
T quad_mask(T x) {
  T out = 0;
  for (size_t i = 0; i < sizeof(T) * 2; ++i) out |= static_cast<T>((x >> (4 * i) & 15) != 0) << i;
  return out;
}
template <typename T>
T whole_quads(T x) {
  T out = 0;
  for (size_t i = 0; i < sizeof(T) * 2; ++i) {
    if (x >> (4 * i) & 15) out |= T{15} << (4 * i);
  }
  return out;
}

template <typename T>
T extract(T x, uint32_t field) {
  constexpr unsigned kBits = sizeof(T) * 8;
  const unsigned offset = field & (kBits - 1);
  const unsigned width = field >> 16 & 127;
  if (width == 0) return 0;
  const T shifted = x >> offset;
  if (width >= kBits) return shifted;
  if constexpr (std::is_signed_v<T>) {
    using U = std::make_unsigned_t<T>;
    return static_cast<T>(static_cast<U>(shifted) << (kBits - width)) >> (kBits - width);
  } else {
    return shifted & ((T{1} << width) - 1);
  }
}

template <typename T>
T field_mask(uint32_t width, uint32_t offset) {
  constexpr unsigned kBits = sizeof(T) * 8;
  return ((T{1} << (width & (kBits - 1))) - 1) << (offset & (kBits - 1));
}

uint32_t shift_add(uint32_t a, uint32_t b, int shift, uint32_t& scc) {
  const uint64_t sum = (static_cast<uint64_t>(a) << shift) + b;
  scc = sum >> 32 != 0;
  return static_cast<uint32_t>(sum);
}

using u32 = uint32_t;
using i32 = int32_t;
using u64 = uint64_t;
using i64 = int64_t;
constexpr auto kI = ConstantType::kI64;
constexpr auto k3 = ConstantType::k32;

constexpr Opcode op(std::string_view mnemonic, Handler handler, uint32_t flags = kNoFlags,
                    ConstantType first = k3, ConstantType second = k3) {
  return {mnemonic, handler, OpClass::kScalar, 1, flags, {first, second}};
}
// Both sources 64 bits.
constexpr Opcode op64(std::string_view mnemonic, Handler handler, uint32_t flags = kNoFlags) {
  return op(mnemonic, handler, flags, kI, kI);
}
constexpr Opcode cmp(std::string_view mnemonic, Handler handler, ConstantType type = k3) {
  return {mnemonic, handler, OpClass::kScalar, 0, kWritesScc, {type, type}};
}
template <typename T, auto Op>
constexpr Opcode logic(std::string_view mnemonic) {
  const auto type = sizeof(T) == 8 ? kI : k3;
  return op(mnemonic, binary<T, T, T, Scc::kNonzero, Op>, kWritesScc, type, type);
}
template <typename T, auto Op>
constexpr Opcode saves(std::string_view mnemonic) {
  return op(mnemonic, save_exec<T, Op>, kWritesScc | kWritesExec, sizeof(T) == 8 ? kI : k3);
}

constexpr auto kAnd = [](auto a, auto b) { return a & b; };
constexpr auto kOr = [](auto a, auto b) { return a | b; };
constexpr auto kXor = [](auto a, auto b) { return a ^ b; };
constexpr auto kNand = [](auto a, auto b) { return ~(a & b); };
constexpr auto kNor = [](auto a, auto b) { return ~(a | b); };
constexpr auto kXnor = [](auto a, auto b) { return ~(a ^ b); };
constexpr auto kAndNot0 = [](auto a, auto b) { return ~a & b; };
constexpr auto kAndNot1 = [](auto a, auto b) { return a & ~b; };
constexpr auto kOrNot0 = [](auto a, auto b) { return ~a | b; };
constexpr auto kOrNot1 = [](auto a, auto b) { return a | ~b; };
constexpr auto kSame = [](auto a) { return a; };
constexpr auto kNot = [](auto a) { return ~a; };
constexpr auto kEq = [](auto a, auto b) { return a == b; };
constexpr auto kNe = [](auto a, auto b) { return a != b; };
constexpr auto kLt = [](auto a, auto b) { return a < b; };
constexpr auto kLe = [](auto a, auto b) { return a <= b; };
constexpr auto kGt = [](auto a, auto b) { return a > b; };
constexpr auto kGe = [](auto a, auto b) { return a >= b; };

constexpr Opcode kOpcodes[] = {
    // SOP1
    op("s_mov_b32", unary<u32, u32, Scc::kKeeps, kSame>, kMoves),
    op64("s_mov_b64", unary<u64, u64, Scc::kKeeps, kSame>, kMoves),
    op("s_cmov_b32", conditional_move<u32>, kReadsScc),
    op64("s_cmov_b64", conditional_move<u64>, kReadsScc),
    op("s_brev_b32", unary<u32, u32, Scc::kKeeps, reverse_bits<u32>>),
    op64("s_brev_b64", unary<u64, u64, Scc::kKeeps, reverse_bits<u64>>),
    op("s_ctz_i32_b32", unary<i32, u32, Scc::kKeeps, trailing_zeros<u32>>),
    op64("s_ctz_i32_b64", unary<i32, u64, Scc::kKeeps, trailing_zeros<u64>>),
    op("s_clz_i32_u32", unary<i32, u32, Scc::kKeeps, leading_zeros<u32>>),
    op64("s_clz_i32_u64", unary<i32, u64, Scc::kKeeps, leading_zeros<u64>>),
    op("s_cls_i32", unary<i32, u32, Scc::kKeeps, leading_signs<u32>>),
    op64("s_cls_i32_i64", unary<i32, u64, Scc::kKeeps, leading_signs<u64>>),
    op("s_sext_i32_i8",
       unary<i32, u32, Scc::kKeeps, [](u32 a) { return i32{static_cast<int8_t>(a)}; }>),
    op("s_sext_i32_i16",
       unary<i32, u32, Scc::kKeeps, [](u32 a) { return i32{static_cast<int16_t>(a)}; }>),
    op("s_bitset0_b32", bitset<u32, false>, kReadsDestination),
    op("s_bitset0_b64", bitset<u64, false>, kReadsDestination),
    op("s_bitset1_b32", bitset<u32, true>, kReadsDestination),
    op("s_bitset1_b64", bitset<u64, true>, kReadsDestination),
    op("s_bitreplicate_b64_b32", unary<u64, u32, Scc::kKeeps, replicate_bits>),
    op("s_abs_i32", unary<u32, u32, Scc::kNonzero, [](u32 a) { return (a >> 31) ? 0u - a : a; }>,
       kWritesScc),
    op("s_bcnt0_i32_b32", unary<i32, u32, Scc::kNonzero, [](u32 a) { return std::popcount(~a); }>,
       kWritesScc),
    op64("s_bcnt0_i32_b64", unary<i32, u64, Scc::kNonzero, [](u64 a) { return std::popcount(~a); }>,
         kWritesScc),
    op("s_bcnt1_i32_b32", unary<i32, u32, Scc::kNonzero, [](u32 a) { return std::popcount(a); }>,
       kWritesScc),
    op64("s_bcnt1_i32_b64", unary<i32, u64, Scc::kNonzero, [](u64 a) { return std::popcount(a); }>,
         kWritesScc),
    op("s_quadmask_b32", unary<u32, u32, Scc::kNonzero, quad_mask<u32>>, kWritesScc),
    op64("s_quadmask_b64", unary<u64, u64, Scc::kNonzero, quad_mask<u64>>, kWritesScc),
    op("s_wqm_b32", unary<u32, u32, Scc::kNonzero, whole_quads<u32>>, kWritesScc),
    op64("s_wqm_b64", unary<u64, u64, Scc::kNonzero, whole_quads<u64>>, kWritesScc),
    op("s_not_b32", unary<u32, u32, Scc::kNonzero, kNot>, kWritesScc),
    op64("s_not_b64", unary<u64, u64, Scc::kNonzero, kNot>, kWritesScc),
    op("s_movrels_b32", move_relative<true, false, 1>),
    op("s_movrels_b64", move_relative<true, false, 2>),
    op("s_movreld_b32", move_relative<false, true, 1>),
    op("s_movreld_b64", move_relative<false, true, 2>),

    // EXEC
    saves<u32, kAnd>("s_and_saveexec_b32"),
    saves<u64, kAnd>("s_and_saveexec_b64"),
    saves<u32, kOr>("s_or_saveexec_b32"),
    saves<u64, kOr>("s_or_saveexec_b64"),
    saves<u32, kXor>("s_xor_saveexec_b32"),
    saves<u64, kXor>("s_xor_saveexec_b64"),
    saves<u32, kNand>("s_nand_saveexec_b32"),
    saves<u64, kNand>("s_nand_saveexec_b64"),
    saves<u32, kNor>("s_nor_saveexec_b32"),
    saves<u64, kNor>("s_nor_saveexec_b64"),
    saves<u32, kXnor>("s_xnor_saveexec_b32"),
    saves<u64, kXnor>("s_xnor_saveexec_b64"),
    saves<u32, kAndNot0>("s_and_not0_saveexec_b32"),
    saves<u64, kAndNot0>("s_and_not0_saveexec_b64"),
    saves<u32, kAndNot1>("s_and_not1_saveexec_b32"),
    saves<u64, kAndNot1>("s_and_not1_saveexec_b64"),
    saves<u32, kOrNot0>("s_or_not0_saveexec_b32"),
    saves<u64, kOrNot0>("s_or_not0_saveexec_b64"),
    saves<u32, kOrNot1>("s_or_not1_saveexec_b32"),
    saves<u64, kOrNot1>("s_or_not1_saveexec_b64"),
    op("s_and_not0_wrexec_b32", write_exec<u32, kAndNot0>, kWritesScc | kWritesExec),
    op("s_and_not1_wrexec_b32", write_exec<u32, kAndNot1>, kWritesScc | kWritesExec),
    op64("s_and_not0_wrexec_b64", write_exec<u64, kAndNot0>, kWritesScc | kWritesExec),
    op64("s_and_not1_wrexec_b64", write_exec<u64, kAndNot1>, kWritesScc | kWritesExec),

    // SOP2
    op("s_add_co_u32",
       binary<u32, u32, u32, Scc::kByOperation,
              [](u32 a, u32 b, u32& scc) {
                const u32 d = a + b;
                scc = d < a;
                return d;
              }>,
       kWritesScc),
    op("s_sub_co_u32",
       binary<u32, u32, u32, Scc::kByOperation,
              [](u32 a, u32 b, u32& scc) {
                scc = (b > a);
                return a - b;
              }>,
       kWritesScc),
    op("s_add_co_i32",
       binary<i32, i32, i32, Scc::kByOperation,
              [](i32 a, i32 b, u32& scc) {
                i32 d = 0;
                scc = __builtin_add_overflow(a, b, &d);
                return d;
              }>,
       kWritesScc),
    op("s_sub_co_i32",
       binary<i32, i32, i32, Scc::kByOperation,
              [](i32 a, i32 b, u32& scc) {
                i32 d = 0;
                scc = __builtin_sub_overflow(a, b, &d);
                return d;
              }>,
       kWritesScc),
    op("s_add_co_ci_u32",
       binary<u32, u32, u32, Scc::kByOperation,
              [](u32 a, u32 b, u32& scc) {
                const u64 sum = static_cast<u64>(a) + b + (scc != 0);
                scc = ((sum >> 32) != 0);
                return static_cast<u32>(sum);
              }>,
       kReadsScc | kWritesScc),
    op("s_sub_co_ci_u32",
       binary<u32, u32, u32, Scc::kByOperation,
              [](u32 a, u32 b, u32& scc) {
                const u64 subtrahend = static_cast<u64>(b) + (scc != 0);
                scc = (subtrahend > a);
                return static_cast<u32>(a - subtrahend);
              }>,
       kReadsScc | kWritesScc),
    op("s_absdiff_i32",
       binary<u32, u32, u32, Scc::kNonzero,
              [](u32 a, u32 b) {
                const u32 d = a - b;
                return (d >> 31) ? 0u - d : d;
              }>,
       kWritesScc),
    op("s_lshl_b32",
       binary<u32, u32, u32, Scc::kNonzero, [](u32 a, u32 b) { return a << (b & 31); }>,
       kWritesScc),
    op("s_lshl_b64",
       binary<u64, u64, u32, Scc::kNonzero, [](u64 a, u32 b) { return a << (b & 63); }>, kWritesScc,
       kI),
    op("s_lshr_b32",
       binary<u32, u32, u32, Scc::kNonzero, [](u32 a, u32 b) { return (a >> (b & 31)); }>,
       kWritesScc),
    op("s_lshr_b64",
       binary<u64, u64, u32, Scc::kNonzero, [](u64 a, u32 b) { return (a >> (b & 63)); }>,
       kWritesScc, kI),
    op("s_ashr_i32",
       binary<i32, i32, u32, Scc::kNonzero, [](i32 a, u32 b) { return (a >> (b & 31)); }>,
       kWritesScc),
    op("s_ashr_i64",
       binary<i64, i64, u32, Scc::kNonzero, [](i64 a, u32 b) { return (a >> (b & 63)); }>,
       kWritesScc, kI),
    op("s_lshl1_add_u32",
       binary<u32, u32, u32, Scc::kByOperation,
              [](u32 a, u32 b, u32& scc) { return shift_add(a, b, 1, scc); }>,
       kWritesScc),
    op("s_lshl2_add_u32",
       binary<u32, u32, u32, Scc::kByOperation,
              [](u32 a, u32 b, u32& scc) { return shift_add(a, b, 2, scc); }>,
       kWritesScc),
    op("s_lshl3_add_u32",
       binary<u32, u32, u32, Scc::kByOperation,
              [](u32 a, u32 b, u32& scc) { return shift_add(a, b, 3, scc); }>,
       kWritesScc),
    op("s_lshl4_add_u32",
       binary<u32, u32, u32, Scc::kByOperation,
              [](u32 a, u32 b, u32& scc) { return shift_add(a, b, 4, scc); }>,
       kWritesScc),
    op("s_min_i32",
       binary<i32, i32, i32, Scc::kByOperation,
              [](i32 a, i32 b, u32& scc) { return (scc = a < b) ? a : b; }>,
       kWritesScc),
    op("s_min_u32",
       binary<u32, u32, u32, Scc::kByOperation,
              [](u32 a, u32 b, u32& scc) { return (scc = a < b) ? a : b; }>,
       kWritesScc),
    op("s_max_i32",
       binary<i32, i32, i32, Scc::kByOperation,
              [](i32 a, i32 b, u32& scc) { return ((scc = (a >= b))) ? a : b; }>,
       kWritesScc),
    op("s_max_u32",
       binary<u32, u32, u32, Scc::kByOperation,
              [](u32 a, u32 b, u32& scc) { return ((scc = (a >= b))) ? a : b; }>,
       kWritesScc),
    logic<u32, kAnd>("s_and_b32"),
    logic<u64, kAnd>("s_and_b64"),
    logic<u32, kOr>("s_or_b32"),
    logic<u64, kOr>("s_or_b64"),
    logic<u32, kXor>("s_xor_b32"),
    logic<u64, kXor>("s_xor_b64"),
    logic<u32, kNand>("s_nand_b32"),
    logic<u64, kNand>("s_nand_b64"),
    logic<u32, kNor>("s_nor_b32"),
    logic<u64, kNor>("s_nor_b64"),
    logic<u32, kXnor>("s_xnor_b32"),
    logic<u64, kXnor>("s_xnor_b64"),
    logic<u32, kAndNot1>("s_and_not1_b32"),
    logic<u64, kAndNot1>("s_and_not1_b64"),
    logic<u32, kOrNot1>("s_or_not1_b32"),
    logic<u64, kOrNot1>("s_or_not1_b64"),
    op("s_bfe_u32", binary<u32, u32, u32, Scc::kNonzero, extract<u32>>, kWritesScc),
    op("s_bfe_i32", binary<i32, i32, u32, Scc::kNonzero, extract<i32>>, kWritesScc),
    op("s_bfe_u64", binary<u64, u64, u32, Scc::kNonzero, extract<u64>>, kWritesScc, kI),
    op("s_bfe_i64", binary<i64, i64, u32, Scc::kNonzero, extract<i64>>, kWritesScc, kI),
    op("s_bfm_b32", binary<u32, u32, u32, Scc::kKeeps, field_mask<u32>>),
    op("s_bfm_b64", binary<u64, u32, u32, Scc::kKeeps, field_mask<u64>>),
    op("s_mul_i32", binary<u32, u32, u32, Scc::kKeeps, [](u32 a, u32 b) { return a * b; }>),
    op("s_mul_hi_u32", binary<u32, u32, u32, Scc::kKeeps,
                              [](u32 a, u32 b) { return static_cast<u32>((u64{a} * b >> 32)); }>),
    op("s_mul_hi_i32", binary<i32, i32, i32, Scc::kKeeps,
                              [](i32 a, i32 b) { return static_cast<i32>((i64{a} * b >> 32)); }>),
    op64("s_mul_u64", binary<u64, u64, u64, Scc::kKeeps, [](u64 a, u64 b) { return a * b; }>),
    op64("s_add_nc_u64", binary<u64, u64, u64, Scc::kKeeps, [](u64 a, u64 b) { return a + b; }>),
    op64("s_sub_nc_u64", binary<u64, u64, u64, Scc::kKeeps, [](u64 a, u64 b) { return a - b; }>),
    op("s_cselect_b32", select<u32>, kReadsScc),
    op64("s_cselect_b64", select<u64>, kReadsScc),
    op("s_pack_ll_b32_b16",
       binary<u32, u32, u32, Scc::kKeeps, [](u32 a, u32 b) { return (a & 0xffff) | b << 16; }>),
    op("s_pack_lh_b32_b16", binary<u32, u32, u32, Scc::kKeeps,
                                   [](u32 a, u32 b) { return (a & 0xffff) | (b & 0xffff0000); }>),
    op("s_pack_hh_b32_b16", binary<u32, u32, u32, Scc::kKeeps,
                                   [](u32 a, u32 b) { return (a >> 16) | (b & 0xffff0000); }>),
    op("s_pack_hl_b32_b16",
       binary<u32, u32, u32, Scc::kKeeps, [](u32 a, u32 b) { return (a >> 16) | b << 16; }>),

    // SOPK
    op("s_movk_i32", movk),
    op("s_cmovk_i32", cmovk, kReadsScc),
    op("s_addk_co_i32", addk, kReadsDestination | kWritesScc),
    op("s_mulk_i32", mulk, kReadsDestination),

    // SOPC
    cmp("s_cmp_eq_i32", compare<i32, kEq>),
    cmp("s_cmp_lg_i32", compare<i32, kNe>),
    cmp("s_cmp_gt_i32", compare<i32, kGt>),
    cmp("s_cmp_ge_i32", compare<i32, kGe>),
    cmp("s_cmp_lt_i32", compare<i32, kLt>),
    cmp("s_cmp_le_i32", compare<i32, kLe>),
    cmp("s_cmp_eq_u32", compare<u32, kEq>),
    cmp("s_cmp_lg_u32", compare<u32, kNe>),
    cmp("s_cmp_gt_u32", compare<u32, kGt>),
    cmp("s_cmp_ge_u32", compare<u32, kGe>),
    cmp("s_cmp_lt_u32", compare<u32, kLt>),
    cmp("s_cmp_le_u32", compare<u32, kLe>),
    cmp("s_cmp_eq_u64", compare<u64, kEq>, kI),
    cmp("s_cmp_lg_u64", compare<u64, kNe>, kI),
    cmp("s_bitcmp0_b32", compare<u32, [](u32 a, u32 b) { return !((a >> (b & 31)) & 1); }>),
    cmp("s_bitcmp1_b32", compare<u32, [](u32 a, u32 b) { return ((a >> (b & 31)) & 1); }>),
    {"s_bitcmp0_b64",
     [](const Instruction& in,
        Wave&
            wave) { wave.scc() = !(wave.scalar64(in.src[0]) >> (wave.scalar(in.src[1]) & 63) & 1); },
     OpClass::kScalar,
     0,
     kWritesScc,
     {kI, k3}},
    {"s_bitcmp1_b64",
     [](const Instruction& in,
        Wave& wave) { wave.scc() = wave.scalar64(in.src[0]) >> (wave.scalar(in.src[1]) & 63) & 1; },
     OpClass::kScalar,
     0,
     kWritesScc,
     {kI, k3}},
};

}  // namespace

std::span<const Opcode> scalar_opcodes() { return kOpcodes; }

}  // namespace radiance::emulator
