#include "emulator/vector_operands.hpp"

#include <xmmintrin.h>

#ifdef __F16C__
#include <immintrin.h>
#else
#include "numerics/f16.hpp"
#endif

#include <algorithm>
#include <cmath>

namespace radiance::emulator {

const Lanes& modify_f32(const Wave& wave, const Operand& operand, const Lanes& in, Lanes& buffer) {
  const uint32_t keep = operand.absolute ? 0x7fffffffu : ~0u;
  const uint32_t flip = operand.negate ? 0x80000000u : 0u;
  for (int i = 0; i < kLanes; ++i) buffer.v[i] = (in.v[i] & keep) ^ flip;
  if (!(wave.mode.denormals32() & 1)) {
    for (int i = 0; i < kLanes; ++i) buffer.v[i] = flush_f32(buffer.v[i]);
  }
  return buffer;
}

const Lanes& source_b16(const Instruction& in, const Wave& wave, int source, Lanes& buffer) {
  const Operand& operand = operand_at(in, source);
  const Lanes& raw = wave.lanes(operand, buffer);
  const int select = source == kDestination ? 3 : source;
  const bool high = operand.half
                        ? operand.high
                        : operand.kind != OperandKind::kConstant && (in.mod.op_sel >> select & 1);
  const int shift = high ? 16 : 0;
  for (int i = 0; i < kLanes; ++i) buffer.v[i] = raw.v[i] >> shift & 0xffffu;
  return buffer;
}

const Lanes& source_f16_bits(const Instruction& in, const Wave& wave, int source, Lanes& buffer) {
  const Operand& operand = operand_at(in, source);
  source_b16(in, wave, source, buffer);
  if (operand.modified()) {
    const uint32_t keep = operand.absolute ? 0x7fffu : 0xffffu;
    const uint32_t flip = operand.negate ? 0x8000u : 0u;
    for (int i = 0; i < kLanes; ++i) buffer.v[i] = (buffer.v[i] & keep) ^ flip;
  }
  if (!(wave.mode.denormals64() & 1)) {
    for (int i = 0; i < kLanes; ++i) buffer.v[i] = flush_f16(buffer.v[i]);
  }
  return buffer;
}

const Lanes& source_f16(const Instruction& in, const Wave& wave, int source, Lanes& buffer) {
  source_f16_bits(in, wave, source, buffer);
  widen_f16(buffer, buffer);
  return buffer;
}

#ifdef __F16C__
void widen_f16(const Lanes& half_bits, Lanes& out) {
  for (int i = 0; i < kLanes; i += 8) {
    const __m256i dwords = _mm256_load_si256(reinterpret_cast<const __m256i*>(half_bits.v + i));
    const __m256i packed = _mm256_permute4x64_epi64(_mm256_packus_epi32(dwords, dwords), 0b1000);
    _mm256_store_ps(reinterpret_cast<float*>(out.v + i),
                    _mm256_cvtph_ps(_mm256_castsi256_si128(packed)));
  }
}

void narrow_f32(const Lanes& f32_bits, Lanes& out) {
  for (int i = 0; i < kLanes; i += 8) {
    const __m256 wide = _mm256_load_ps(reinterpret_cast<const float*>(f32_bits.v + i));
    const __m128i half = _mm256_cvtps_ph(wide, _MM_FROUND_CUR_DIRECTION);
    _mm256_store_si256(reinterpret_cast<__m256i*>(out.v + i), _mm256_cvtepu16_epi32(half));
  }
}
#else
void widen_f16(const Lanes& half_bits, Lanes& out) {
  for (int i = 0; i < kLanes; ++i) {
    out.v[i] = as_bits(f16_to_f32(static_cast<uint16_t>(half_bits.v[i])));
  }
}

// Rounds to nearest even whatever MODE says: the portable build is for machines without F16C only.
void narrow_f32(const Lanes& f32_bits, Lanes& out) {
  for (int i = 0; i < kLanes; ++i) out.v[i] = f32_to_f16(as_float(f32_bits.v[i]));
}
#endif

Lanes64 source_b64(const Wave& wave, const Operand& operand, Buffer64& buffer) {
  return {&wave.lanes(operand, buffer.low, 0), &wave.lanes(operand, buffer.high, 1)};
}

Lanes64 source_f64(const Wave& wave, const Operand& operand, Buffer64& buffer) {
  Lanes64 raw = source_b64(wave, operand, buffer);
  const bool flush = !(wave.mode.denormals64() & 1);
  if (!operand.modified() && !flush) return raw;
  for (int i = 0; i < kLanes; ++i) {
    uint64_t bits = raw[i];
    if (operand.absolute) bits &= ~(1ull << 63);
    if (operand.negate) bits ^= 1ull << 63;
    buffer.set(i, flush ? flush_f64(bits) : bits);
  }
  return {&buffer.low, &buffer.high};
}

namespace {

// RDNA4's ISA, 7.2.3.1 (RDNA3's ignored the scale where MODE keeps denormals): whatever MODE says,
// a scale flushes denormals, of the result and of what it makes of it, and leaves no negative zero.
constexpr float kScales[] = {1.0f, 2.0f, 4.0f, 0.5f};

uint32_t scaled_f32(uint32_t bits, float scale) {
  const float value = as_float(flush_f32(bits));
  return value == 0 ? 0 : flush_f32(as_bits(value * scale));
}

uint64_t scaled_f64(uint64_t bits, double scale) {
  const double value = as_double(flush_f64(bits));
  return value == 0 ? 0 : flush_f64(as_bits(value * scale));
}

void scale_f16(Lanes& value, float scale) {
  Lanes wide;
  for (int i = 0; i < kLanes; ++i) value.v[i] = flush_f16(value.v[i]);
  widen_f16(value, wide);
  for (int i = 0; i < kLanes; ++i) {
    const float x = as_float(wide.v[i]);
    wide.v[i] = x == 0 ? 0 : as_bits(x * scale);
  }
  narrow_f32(wide, value);
  for (int i = 0; i < kLanes; ++i) value.v[i] = flush_f16(value.v[i]);
}

// NaN clamps to zero (DX10_CLAMP, which RDNA4 always has).
template <typename T>
T clamp01(T value) {
  return value > T(0) ? (value < T(1) ? value : T(1)) : T(0);
}

}  // namespace

void store_f32_modified(const Instruction& in, Wave& wave, Lanes& value) {
  if (in.mod.output_scale) {
    const float scale = kScales[in.mod.output_scale];
    for (int i = 0; i < kLanes; ++i) value.v[i] = scaled_f32(value.v[i], scale);
  }
  if (in.mod.clamp) {
    for (int i = 0; i < kLanes; ++i) value.v[i] = as_bits(clamp01(as_float(value.v[i])));
  }
  if (!(wave.mode.denormals32() & 2)) {
    for (int i = 0; i < kLanes; ++i) value.v[i] = flush_f32(value.v[i]);
  }
  wave.store(in.dst[0], value);
}

void store_b16(const Instruction& in, Wave& wave, const Lanes& value) {
  const Operand& d = in.dst[0];
  Lanes& reg = wave.vgpr[d.index];
  const bool high = d.half ? d.high : (in.mod.op_sel >> 3 & 1);
  const uint32_t keep = high ? 0x0000ffffu : 0xffff0000u;
  const int shift = high ? 16 : 0;
  Lanes out;
  for (int i = 0; i < kLanes; ++i) {
    out.v[i] = (reg.v[i] & keep) | (value.v[i] & 0xffffu) << shift;
  }
  wave.store_lanes(d.index, out, wave.exec());
}

void store_f16_bits(const Instruction& in, Wave& wave, Lanes& value) {
  if (in.mod.output_scale) scale_f16(value, kScales[in.mod.output_scale]);
  if (in.mod.clamp) {
    Lanes wide;
    widen_f16(value, wide);
    for (int i = 0; i < kLanes; ++i) wide.v[i] = as_bits(clamp01(as_float(wide.v[i])));
    narrow_f32(wide, value);
  }
  if (!(wave.mode.denormals64() & 2)) {
    for (int i = 0; i < kLanes; ++i) value.v[i] = flush_f16(value.v[i]);
  }
  store_b16(in, wave, value);
}

void store_b64(const Instruction& in, Wave& wave, const Buffer64& value) {
  wave.store(in.dst[0], value.low, 0);
  wave.store(in.dst[0], value.high, 1);
}

void store_f64(const Instruction& in, Wave& wave, Buffer64& value) {
  const bool flush = !(wave.mode.denormals64() & 2);
  if (in.mod.clamp || in.mod.output_scale || flush) {
    for (int i = 0; i < kLanes; ++i) {
      uint64_t bits = Lanes64{&value.low, &value.high}[i];
      if (in.mod.output_scale) {
        bits = scaled_f64(bits, static_cast<double>(kScales[in.mod.output_scale]));
      }
      if (in.mod.clamp) bits = as_bits(clamp01(as_double(bits)));
      value.set(i, flush ? flush_f64(bits) : bits);
    }
  }
  store_b64(in, wave, value);
}

void Rounding64::set(unsigned rounding) {
  // MODE: nearest, up, down, to zero. MXCSR bits 14:13: nearest, down, up, to zero.
  constexpr unsigned kHost[] = {0, 2, 1, 3};
  _mm_setcsr((_mm_getcsr() & ~0x6000u) | kHost[rounding & 3] << 13);
}

}  // namespace radiance::emulator
