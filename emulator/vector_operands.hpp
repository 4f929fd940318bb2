// Typed reads and writes of vector operands: what VALU handlers do around their lane loop.
//
// Sources come as 32 lanes of dwords, whatever they are: register, scalar, constant or the result
// of a DPP permutation. Float sources have |x| and -x applied and, where MODE flushes denormals,
// are flushed here; results are flushed, scaled and clamped in store_*. So a lane loop is plain
// arithmetic.
#pragma once

#include <bit>
#include <cstdint>

#include "emulator/wave.hpp"

namespace radiance::emulator {

// Where a source stands: Instruction::src by number, or the destination that is read too (fmac).
constexpr int kDestination = -1;

inline const Operand& operand_at(const Instruction& in, int source) {
  return source == kDestination ? in.dst[0] : in.src[static_cast<size_t>(source)];
}

inline float as_float(uint32_t bits) { return std::bit_cast<float>(bits); }
inline uint32_t as_bits(float value) { return std::bit_cast<uint32_t>(value); }
inline double as_double(uint64_t bits) { return std::bit_cast<double>(bits); }
inline uint64_t as_bits(double value) { return std::bit_cast<uint64_t>(value); }

// Zero of the same sign for a denormal.
inline uint32_t flush_f32(uint32_t bits) {
  return (bits & 0x7f800000u) == 0 ? bits & 0x80000000u : bits;
}
inline uint32_t flush_f16(uint32_t bits) { return (bits & 0x7c00u) == 0 ? bits & 0x8000u : bits; }
inline uint64_t flush_f64(uint64_t bits) {
  return (bits & 0x7ff0000000000000u) == 0 ? bits & 0x8000000000000000u : bits;
}

// 32-bit integers and bit patterns.
inline const Lanes& source_b32(const Wave& wave, const Operand& operand, Lanes& buffer) {
  return wave.lanes(operand, buffer);
}

// 32-bit floats, as bits.
const Lanes& modify_f32(const Wave& wave, const Operand& operand, const Lanes& in, Lanes& buffer);
inline const Lanes& source_f32(const Wave& wave, const Operand& operand, Lanes& buffer) {
  const Lanes& raw = wave.lanes(operand, buffer);
  if (!operand.modified() && (wave.mode.denormals32() & 1)) return raw;
  return modify_f32(wave, operand, raw, buffer);
}

// 16 bits, zero-extended: a VGPR half (v0.l, v0.h, or by op_sel), a scalar's or a constant's half.
// `source` is the operand's number, its bit in op_sel.
const Lanes& source_b16(const Instruction& in, const Wave& wave, int source, Lanes& buffer);
// 16-bit floats as bits, modifiers applied.
const Lanes& source_f16_bits(const Instruction& in, const Wave& wave, int source, Lanes& buffer);
// 16-bit floats, widened to f32 (exact).
const Lanes& source_f16(const Instruction& in, const Wave& wave, int source, Lanes& buffer);

// 64 bits: low and high dwords.
struct Lanes64 {
  const Lanes* low;
  const Lanes* high;
  uint64_t operator[](int lane) const {
    return low->v[lane] | static_cast<uint64_t>(high->v[lane]) << 32;
  }
};
struct Buffer64 {
  Lanes low;
  Lanes high;
  void set(int lane, uint64_t value) {
    low.v[lane] = static_cast<uint32_t>(value);
    high.v[lane] = static_cast<uint32_t>(value >> 32);
  }
};
Lanes64 source_b64(const Wave& wave, const Operand& operand, Buffer64& buffer);
Lanes64 source_f64(const Wave& wave, const Operand& operand, Buffer64& buffer);

// Results of the active lanes.
inline void store_b32(const Instruction& in, Wave& wave, const Lanes& value) {
  wave.store(in.dst[0], value);
}
void store_f32_modified(const Instruction& in, Wave& wave, Lanes& value);
inline void store_f32(const Instruction& in, Wave& wave, Lanes& value) {
  if (in.mod.clamp || in.mod.output_scale || !(wave.mode.denormals32() & 2)) {
    store_f32_modified(in, wave, value);
  } else {
    wave.store(in.dst[0], value);
  }
}
// The low 16 bits of each lane into the destination's half; the other half is kept.
void store_b16(const Instruction& in, Wave& wave, const Lanes& value);
// f16 bits: scaled, clamped, flushed as asked.
void store_f16_bits(const Instruction& in, Wave& wave, Lanes& value);
void store_b64(const Instruction& in, Wave& wave, const Buffer64& value);
void store_f64(const Instruction& in, Wave& wave, Buffer64& value);

// f32 to f16 bits in the current host rounding mode, and exactly back.
void widen_f16(const Lanes& half_bits, Lanes& out);
void narrow_f32(const Lanes& f32_bits, Lanes& out);

// The host's rounding while f64 and f16 arithmetic runs under a MODE whose two fields differ.
class Rounding64 {
 public:
  explicit Rounding64(const Wave& wave) : changed_(wave.mode.round64() != wave.mode.round32()) {
    if (changed_) set(wave.mode.round64());
    before_ = wave.mode.round32();
  }
  ~Rounding64() {
    if (changed_) set(before_);
  }
  Rounding64(const Rounding64&) = delete;
  Rounding64& operator=(const Rounding64&) = delete;
  static void set(unsigned rounding);

 private:
  bool changed_;
  unsigned before_ = 0;
};

}  // namespace radiance::emulator
