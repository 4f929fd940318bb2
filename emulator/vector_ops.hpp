// Lane loops: one template for D = Op(S0), Op(S0, S1), Op(S0, S1, S2), for any mix of operand
// types.
//
// A type (B32, F16, ...) says how a source's lanes are read and a result's lanes are written; Op is
// a function of plain C++ values. The loop is the same for all 32 lanes whatever EXEC says:
// computing the inactive ones costs nothing, and only active ones are stored.
#pragma once

#include "emulator/float_ops.hpp"
#include "emulator/handlers.hpp"
#include "emulator/vector_operands.hpp"

namespace radiance::emulator {

// 32-bit integers.
template <typename I>
struct Integer32 {
  using Value = I;
  static constexpr bool kRoundingOf64 = false;
  struct Source {
    Source(const Instruction& in, const Wave& wave, int source)
        : lanes(source_b32(wave, operand_at(in, source), buffer)) {}
    I operator[](int lane) const { return static_cast<I>(lanes.v[lane]); }
    Lanes buffer;
    const Lanes& lanes;
  };
  struct Result {
    void set(int lane, I value) { lanes.v[lane] = static_cast<uint32_t>(value); }
    void commit(const Instruction& in, Wave& wave) { store_b32(in, wave, lanes); }
    Lanes lanes;
  };
};
using U32 = Integer32<uint32_t>;
using I32 = Integer32<int32_t>;

struct F32 {
  using Value = float;
  static constexpr bool kRoundingOf64 = false;
  struct Source {
    Source(const Instruction& in, const Wave& wave, int source)
        : lanes(source_f32(wave, operand_at(in, source), buffer)) {}
    float operator[](int lane) const { return as_float(lanes.v[lane]); }
    Lanes buffer;
    const Lanes& lanes;
  };
  struct Result {
    void set(int lane, float value) { lanes.v[lane] = as_bits(value); }
    void commit(const Instruction& in, Wave& wave) { store_f32(in, wave, lanes); }
    Lanes lanes;
  };
};

// 16-bit integers.
template <typename I>
struct Integer16 {
  using Value = I;
  static constexpr bool kRoundingOf64 = false;
  struct Source {
    Source(const Instruction& in, const Wave& wave, int source) {
      source_b16(in, wave, source, buffer);
    }
    I operator[](int lane) const { return static_cast<I>(static_cast<uint16_t>(buffer.v[lane])); }
    Lanes buffer;
  };
  struct Result {
    void set(int lane, I value) { lanes.v[lane] = static_cast<uint16_t>(value); }
    void commit(const Instruction& in, Wave& wave) { store_b16(in, wave, lanes); }
    Lanes lanes;
  };
};
using U16 = Integer16<uint16_t>;
using I16 = Integer16<int16_t>;

// f16 computed in f32 and rounded back. Exact with one operation +, -, *, /, sqrt: f32 has more
// than twice the bits, so rounding twice is rounding once. Fused operations use F16Bits and
// fma_f16.
struct F16 {
  using Value = float;
  static constexpr bool kRoundingOf64 = true;
  struct Source {
    Source(const Instruction& in, const Wave& wave, int source) {
      source_f16(in, wave, source, buffer);
    }
    float operator[](int lane) const { return as_float(buffer.v[lane]); }
    Lanes buffer;
  };
  struct Result {
    void set(int lane, float value) { lanes.v[lane] = as_bits(value); }
    void commit(const Instruction& in, Wave& wave) {
      narrow_f32(lanes, lanes);
      store_f16_bits(in, wave, lanes);
    }
    Lanes lanes;
  };
};

// f16 results that the operation has already rounded.
struct F16Bits {
  using Value = uint16_t;
  static constexpr bool kRoundingOf64 = true;
  struct Result {
    void set(int lane, uint16_t value) { lanes.v[lane] = value; }
    void commit(const Instruction& in, Wave& wave) { store_f16_bits(in, wave, lanes); }
    Lanes lanes;
  };
};

template <typename I>
struct Integer64 {
  using Value = I;
  static constexpr bool kRoundingOf64 = false;
  struct Source {
    Source(const Instruction& in, const Wave& wave, int source)
        : lanes(source_b64(wave, operand_at(in, source), buffer)) {}
    I operator[](int lane) const { return static_cast<I>(lanes[lane]); }
    Buffer64 buffer;
    Lanes64 lanes;
  };
  struct Result {
    void set(int lane, I value) { lanes.set(lane, static_cast<uint64_t>(value)); }
    void commit(const Instruction& in, Wave& wave) { store_b64(in, wave, lanes); }
    Buffer64 lanes;
  };
};
using U64 = Integer64<uint64_t>;
using I64 = Integer64<int64_t>;

struct F64 {
  using Value = double;
  static constexpr bool kRoundingOf64 = true;
  struct Source {
    Source(const Instruction& in, const Wave& wave, int source)
        : lanes(source_f64(wave, operand_at(in, source), buffer)) {}
    double operator[](int lane) const { return as_double(lanes[lane]); }
    Buffer64 buffer;
    Lanes64 lanes;
  };
  struct Result {
    void set(int lane, double value) { lanes.set(lane, as_bits(value)); }
    void commit(const Instruction& in, Wave& wave) { store_f64(in, wave, lanes); }
    Buffer64 lanes;
  };
};

// Sets the host's rounding for results of types that MODE rounds by its second field.
template <bool Needed>
struct RoundingFor {
  explicit RoundingFor(const Wave&) {}
};
template <>
struct RoundingFor<true> {
  explicit RoundingFor(const Wave& wave) : scope(wave) {}
  Rounding64 scope;
};

template <typename D, typename A, auto Op, int S0 = 0>
void map1(const Instruction& in, Wave& wave) {
  const typename A::Source a(in, wave, S0);
  const RoundingFor<D::kRoundingOf64 || A::kRoundingOf64> rounding(wave);
  typename D::Result d;
#pragma GCC ivdep
  for (int i = 0; i < kLanes; ++i) d.set(i, static_cast<typename D::Value>(Op(a[i])));
  d.commit(in, wave);
}

template <typename D, typename A, typename B, auto Op, int S0 = 0, int S1 = 1>
void map2(const Instruction& in, Wave& wave) {
  const typename A::Source a(in, wave, S0);
  const typename B::Source b(in, wave, S1);
  const RoundingFor<D::kRoundingOf64> rounding(wave);
  typename D::Result d;
#pragma GCC ivdep
  for (int i = 0; i < kLanes; ++i) d.set(i, static_cast<typename D::Value>(Op(a[i], b[i])));
  d.commit(in, wave);
}

template <typename D, typename A, typename B, typename C, auto Op, int S0 = 0, int S1 = 1,
          int S2 = 2>
void map3(const Instruction& in, Wave& wave) {
  const typename A::Source a(in, wave, S0);
  const typename B::Source b(in, wave, S1);
  const typename C::Source c(in, wave, S2);
  const RoundingFor<D::kRoundingOf64> rounding(wave);
  typename D::Result d;
#pragma GCC ivdep
  for (int i = 0; i < kLanes; ++i) d.set(i, static_cast<typename D::Value>(Op(a[i], b[i], c[i])));
  d.commit(in, wave);
}

// All operands of one type.
template <typename T, auto Op>
constexpr Handler k1 = map1<T, T, Op>;
template <typename T, auto Op>
constexpr Handler k2 = map2<T, T, T, Op>;
template <typename T, auto Op>
constexpr Handler k3 = map3<T, T, T, T, Op>;

// Table entries. The constant types are those of the sources.
constexpr Opcode valu(std::string_view mnemonic, Handler handler, uint32_t flags = kNoFlags,
                      std::array<ConstantType, 4> constants = {}) {
  return {mnemonic, handler, OpClass::kVector, 1, flags, constants};
}
constexpr std::array<ConstantType, 4> kAll16 = {ConstantType::k16, ConstantType::k16,
                                                ConstantType::k16, ConstantType::k16};
constexpr std::array<ConstantType, 4> kAllF64 = {ConstantType::kF64, ConstantType::kF64,
                                                 ConstantType::kF64, ConstantType::kF64};
constexpr std::array<ConstantType, 4> kAllI64 = {ConstantType::kI64, ConstantType::kI64,
                                                 ConstantType::kI64, ConstantType::kI64};

}  // namespace radiance::emulator
