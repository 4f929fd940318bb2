// Conversions between fp8, bf8 and f32, and the dot products of four.
#include <array>

#include "emulator/fp8_conversion.hpp"
#include "emulator/handlers.hpp"
#include "emulator/vector_operands.hpp"

namespace radiance::emulator {
namespace {

// Decoding is a table: it is what dequantizing kernels do most.
using DecodeTable = std::array<uint32_t, 256>;

template <float (*decode)(u8)>
constexpr DecodeTable make_table() {
  DecodeTable table{};
  for (int b = 0; b < 256; ++b)
    table[static_cast<size_t>(b)] = float_bits(decode(static_cast<u8>(b)));
  return table;
}
constexpr float decode_fp8(u8 b) { return e4m3_to_f32(b); }
constexpr float decode_bf8(u8 b) { return e5m2_to_f32(b); }
constexpr DecodeTable kFp8 = make_table<decode_fp8>();
constexpr DecodeTable kBf8 = make_table<decode_bf8>();

// V_CVT_F32_FP8: the byte that byte_sel names.
template <const DecodeTable& kTable>
void widen(const Instruction& in, Wave& wave) {
  Lanes buffer, result;
  const Lanes& source = source_b32(wave, in.src[0], buffer);
  const int shift = 8 * in.mod.byte_sel;
  for (int i = 0; i < kLanes; ++i) result.v[i] = kTable[source.v[i] >> shift & 255];
  store_f32(in, wave, result);
}

// V_CVT_PK_F32_FP8: both bytes of one half.
template <const DecodeTable& kTable>
void widen_pair(const Instruction& in, Wave& wave) {
  Lanes buffer;
  const Lanes& source = source_b16(in, wave, 0, buffer);
  Buffer64 result;
  for (int i = 0; i < kLanes; ++i) {
    result.low.v[i] = kTable[source.v[i] & 255];
    result.high.v[i] = kTable[source.v[i] >> 8 & 255];
  }
  store_b64(in, wave, result);
}

bool clamps_overflow(const Wave& wave) { return wave.mode.bits >> 23 & 1; }

// V_CVT_PK_FP8_F32: two bytes into one half of the destination.
template <u8 (*encode)(float, bool)>
void narrow_pair(const Instruction& in, Wave& wave) {
  Lanes buffer[2], result;
  const Lanes& a = source_f32(wave, in.src[0], buffer[0]);
  const Lanes& b = source_f32(wave, in.src[1], buffer[1]);
  const bool clamp = clamps_overflow(wave);
  for (int i = 0; i < kLanes; ++i) {
    result.v[i] = encode(as_float(a.v[i]), clamp) |
                  static_cast<uint32_t>(encode(as_float(b.v[i]), clamp)) << 8;
  }
  store_b16(in, wave, result);
}

// V_CVT_SR_FP8_F32: one byte, the others are kept.
template <u8 (*encode)(float, u32, bool)>
void narrow_stochastic(const Instruction& in, Wave& wave) {
  Lanes buffer[2], result;
  const Lanes& value = source_f32(wave, in.src[0], buffer[0]);
  const Lanes& random = source_b32(wave, in.src[1], buffer[1]);
  const Lanes& old = wave.vgpr[in.dst[0].index];
  const bool clamp = clamps_overflow(wave);
  const int shift = 8 * in.mod.byte_sel;
  for (int i = 0; i < kLanes; ++i) {
    const uint32_t byte = encode(as_float(value.v[i]), random.v[i], clamp);
    result.v[i] = (old.v[i] & ~(0xffu << shift)) | byte << shift;
  }
  store_b32(in, wave, result);
}

// V_DOT4_F32_FP8_FP8: C and then four products, each addition rounded (the order is assumed, as for
// WMMA).
template <const DecodeTable& kA, const DecodeTable& kB>
void dot4(const Instruction& in, Wave& wave) {
  Lanes buffer[3], result;
  const Lanes& a = source_b32(wave, in.src[0], buffer[0]);
  const Lanes& b = source_b32(wave, in.src[1], buffer[1]);
  const Lanes& c = source_b32(wave, in.src[2], buffer[2]);
  const uint32_t keep = in.mod.neg_hi & 4 ? 0x7fffffffu : ~0u;
  const uint32_t flip = in.mod.neg_lo & 4 ? 0x80000000u : 0;
  for (int i = 0; i < kLanes; ++i) {
    float sum = as_float((c.v[i] & keep) ^ flip);
    for (int byte = 0; byte < 32; byte += 8) {
      sum += as_float(kA[a.v[i] >> byte & 255]) * as_float(kB[b.v[i] >> byte & 255]);
    }
    result.v[i] = as_bits(sum);
  }
  store_f32(in, wave, result);
}

constexpr Opcode entry(std::string_view name, Handler handler, uint32_t flags = kNoFlags) {
  return {name, handler, OpClass::kVector, 1, flags};
}

constexpr std::array kOpcodes = {
    entry("v_cvt_f32_fp8", widen<kFp8>),
    entry("v_cvt_f32_bf8", widen<kBf8>),
    entry("v_cvt_pk_f32_fp8", widen_pair<kFp8>),
    entry("v_cvt_pk_f32_bf8", widen_pair<kBf8>),
    entry("v_cvt_pk_fp8_f32", narrow_pair<f32_to_fp8>),
    entry("v_cvt_pk_bf8_f32", narrow_pair<f32_to_bf8>),
    entry("v_cvt_sr_fp8_f32", narrow_stochastic<f32_to_fp8_stochastic>),
    entry("v_cvt_sr_bf8_f32", narrow_stochastic<f32_to_bf8_stochastic>),
    entry("v_dot4_f32_fp8_fp8", dot4<kFp8, kFp8>),
    entry("v_dot4_f32_fp8_bf8", dot4<kFp8, kBf8>),
    entry("v_dot4_f32_bf8_fp8", dot4<kBf8, kFp8>),
    entry("v_dot4_f32_bf8_bf8", dot4<kBf8, kBf8>),
};

}  // namespace

std::span<const Opcode> fp8_opcodes() { return kOpcodes; }

}  // namespace radiance::emulator
