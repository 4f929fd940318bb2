// VALU: 64-bit shifts and multiply-adds.
#include "emulator/vector_ops.hpp"

namespace radiance::emulator {
namespace {

uint64_t shift_left(uint32_t amount, uint64_t x) { return x << (amount & 63); }
uint64_t shift_right(uint32_t amount, uint64_t x) { return x >> (amount & 63); }
int64_t shift_right_signed(uint32_t amount, int64_t x) { return x >> (amount & 63); }

// D = S0 * S1 + S2 with a carry bit a lane in the second destination: the sum's carry out of 64
// bits, signed overflow for i64.
template <bool Signed>
void multiply_add(const Instruction& in, Wave& wave) {
  const U32::Source a(in, wave, 0);
  const U32::Source b(in, wave, 1);
  const U64::Source c(in, wave, 2);
  U64::Result d;
  uint32_t carry = 0;
  for (int i = 0; i < kLanes; ++i) {
    if constexpr (Signed) {
      const int64_t product = int64_t{static_cast<int32_t>(a[i])} * static_cast<int32_t>(b[i]);
      int64_t sum = 0;
      const bool overflow = __builtin_add_overflow(product, static_cast<int64_t>(c[i]), &sum);
      d.set(i, static_cast<uint64_t>(sum));
      carry |= static_cast<uint32_t>(overflow) << i;
    } else {
      const uint64_t product = uint64_t{a[i]} * b[i];
      const uint64_t sum = product + c[i];
      d.set(i, sum);
      carry |= static_cast<uint32_t>(sum < product) << i;
    }
  }
  wave.set_scalar(in.dst[1], carry & wave.exec());
  d.commit(in, wave);
}

constexpr std::array<ConstantType, 4> kShift = {ConstantType::k32, ConstantType::kI64};
constexpr std::array<ConstantType, 4> kMultiplyAdd = {ConstantType::k32, ConstantType::k32,
                                                      ConstantType::kI64};

constexpr Opcode kOpcodes[] = {
    valu("v_lshlrev_b64", map2<U64, U32, U64, shift_left>, kNoFlags, kShift),
    valu("v_lshrrev_b64", map2<U64, U32, U64, shift_right>, kNoFlags, kShift),
    valu("v_ashrrev_i64", map2<I64, U32, I64, shift_right_signed>, kNoFlags, kShift),
    {"v_mad_co_u64_u32", multiply_add<false>, OpClass::kVector, 2, kUpperAddendMayBeUndefined,
     kMultiplyAdd},
    {"v_mad_co_i64_i32", multiply_add<true>, OpClass::kVector, 2, kUpperAddendMayBeUndefined,
     kMultiplyAdd},
};

}  // namespace

std::span<const Opcode> vector_integer64_opcodes() { return kOpcodes; }

}  // namespace radiance::emulator
