// VALU: conversions between integers and floats (fp8 has a file of its own).
#include "emulator/vector_ops.hpp"

namespace radiance::emulator {
namespace {

float from_i32(int32_t a) { return static_cast<float>(a); }
float from_u32(uint32_t a) { return static_cast<float>(a); }
int32_t trunc_i32(float a) { return to_i32(a); }
uint32_t trunc_u32(float a) { return to_u32(a); }
int32_t nearest_i32(float a) { return to_i32(std::floor(a + 0.5f)); }
int32_t floor_i32(float a) { return to_i32(std::floor(a)); }
float same(float a) { return a; }
template <int Byte>
float from_byte(uint32_t a) {
  return static_cast<float>(a >> (8 * Byte) & 0xff);
}
// Four bits as a signed sixteenth: -8/16 .. 7/16.
float from_i4(uint32_t a) {
  return static_cast<float>(static_cast<int32_t>((a & 15) ^ 8) - 8) * 0.0625f;
}

double widen(float a) { return static_cast<double>(a); }
float narrow(double a) { return static_cast<float>(a); }
double double_from_i32(int32_t a) { return a; }
double double_from_u32(uint32_t a) { return a; }
int32_t double_to_i32(double a) { return to_i32(a); }
uint32_t double_to_u32(double a) { return to_u32(a); }

float from_i16(int16_t a) { return a; }
float from_u16(uint16_t a) { return a; }
int16_t half_to_i16(float a) { return static_cast<int16_t>(to_i16(a)); }
uint16_t half_to_u16(float a) { return static_cast<uint16_t>(to_u16(a)); }
int32_t sign_extend(int16_t a) { return a; }
uint32_t zero_extend(uint16_t a) { return a; }

// [-1, 1] to the whole range of a 16-bit integer, rounded to nearest even; NaN gives 0.
int16_t norm_i16(float a) {
  const float clamped = a > 1 ? 1.0f : a < -1 ? -1.0f : a;
  return static_cast<int16_t>(to_i16(round_even(clamped * 32767.0f)));
}
uint16_t norm_u16(float a) {
  const float clamped = a > 1 ? 1.0f : a > 0 ? a : 0.0f;
  return static_cast<uint16_t>(to_u16(round_even(clamped * 65535.0f)));
}

uint32_t pack(uint32_t low, uint32_t high) { return (low & 0xffff) | high << 16; }
uint32_t pk_norm_i16(float a, float b) {
  return pack(static_cast<uint16_t>(norm_i16(a)), static_cast<uint16_t>(norm_i16(b)));
}
uint32_t pk_norm_u16(float a, float b) { return pack(norm_u16(a), norm_u16(b)); }
uint32_t pk_i16_f32(float a, float b) {
  return pack(static_cast<uint32_t>(to_i16(round_even(a))),
              static_cast<uint32_t>(to_i16(round_even(b))));
}
uint32_t pk_u16_f32(float a, float b) { return pack(to_u16(round_even(a)), to_u16(round_even(b))); }
uint32_t pk_u16_u32(uint32_t a, uint32_t b) {
  return pack(a > 0xffff ? 0xffff : a, b > 0xffff ? 0xffff : b);
}
int32_t clamp_i16(int32_t a) { return a > 32767 ? 32767 : a < -32768 ? -32768 : a; }
uint32_t pk_i16_i32(int32_t a, int32_t b) {
  return pack(static_cast<uint32_t>(clamp_i16(a)), static_cast<uint32_t>(clamp_i16(b)));
}
// Into one byte of the third source.
uint32_t pk_u8_f32(float a, uint32_t byte, uint32_t old) {
  const float rounded = round_even(a);
  const uint32_t value = rounded >= 255 ? 255u : rounded > 0 ? static_cast<uint32_t>(rounded) : 0u;
  const uint32_t shift = 8 * (byte & 3);
  return (old & ~(0xffu << shift)) | value << shift;
}
uint32_t byte_of_i16(int32_t a) { return static_cast<uint32_t>(a < 0 ? 0 : a > 255 ? 255 : a); }
uint16_t sat_pk_u8_i16(uint32_t a) {
  return static_cast<uint16_t>(byte_of_i16(static_cast<int16_t>(a)) |
                               byte_of_i16(static_cast<int16_t>(a >> 16)) << 8);
}

// f32 to f16 rounded toward zero.
uint32_t half_toward_zero(float a) {
  const uint32_t bits = as_bits(a);
  const uint32_t sign = bits >> 16 & 0x8000;
  const uint32_t magnitude = bits & 0x7fffffff;
  if (magnitude > 0x7f800000) return sign | 0x7e00;
  if (magnitude == 0x7f800000) return sign | 0x7c00;
  if (magnitude >= 0x47800000) return sign | 0x7bff;  // too large: the largest finite
  const int exponent = static_cast<int>(magnitude >> 23) - 127;
  if (exponent >= -14) return sign | ((magnitude - 0x38000000) >> 13);
  if (exponent < -24) return sign;
  return sign | (((magnitude & 0x7fffff) | 0x800000) >> (-1 - exponent));
}
uint32_t pk_rtz(float a, float b) { return pack(half_toward_zero(a), half_toward_zero(b)); }

constexpr Opcode half(std::string_view mnemonic, Handler handler) {
  return valu(mnemonic, handler, kNoFlags, kAll16);
}
constexpr Opcode wide(std::string_view mnemonic, Handler handler) {
  return valu(mnemonic, handler, kNoFlags, kAllF64);
}

constexpr Opcode kOpcodes[] = {
    valu("v_cvt_f32_i32", map1<F32, I32, from_i32>),
    valu("v_cvt_f32_u32", map1<F32, U32, from_u32>),
    valu("v_cvt_i32_f32", map1<I32, F32, trunc_i32>),
    valu("v_cvt_u32_f32", map1<U32, F32, trunc_u32>),
    valu("v_cvt_nearest_i32_f32", map1<I32, F32, nearest_i32>),
    valu("v_cvt_floor_i32_f32", map1<I32, F32, floor_i32>),
    valu("v_cvt_f16_f32", map1<F16, F32, same>),
    half("v_cvt_f32_f16", map1<F32, F16, same>),
    valu("v_cvt_f32_ubyte0", map1<F32, U32, from_byte<0>>),
    valu("v_cvt_f32_ubyte1", map1<F32, U32, from_byte<1>>),
    valu("v_cvt_f32_ubyte2", map1<F32, U32, from_byte<2>>),
    valu("v_cvt_f32_ubyte3", map1<F32, U32, from_byte<3>>),
    valu("v_cvt_off_f32_i4", map1<F32, U32, from_i4>),
    valu("v_cvt_f64_f32", map1<F64, F32, widen>),
    wide("v_cvt_f32_f64", map1<F32, F64, narrow>),
    valu("v_cvt_f64_i32", map1<F64, I32, double_from_i32>),
    valu("v_cvt_f64_u32", map1<F64, U32, double_from_u32>),
    wide("v_cvt_i32_f64", map1<I32, F64, double_to_i32>),
    wide("v_cvt_u32_f64", map1<U32, F64, double_to_u32>),
    half("v_cvt_f16_i16", map1<F16, I16, from_i16>),
    half("v_cvt_f16_u16", map1<F16, U16, from_u16>),
    half("v_cvt_i16_f16", map1<I16, F16, half_to_i16>),
    half("v_cvt_u16_f16", map1<U16, F16, half_to_u16>),
    half("v_cvt_i32_i16", map1<I32, I16, sign_extend>),
    half("v_cvt_u32_u16", map1<U32, U16, zero_extend>),
    half("v_cvt_norm_i16_f16", map1<I16, F16, norm_i16>),
    half("v_cvt_norm_u16_f16", map1<U16, F16, norm_u16>),
    valu("v_cvt_pk_norm_i16_f32", map2<U32, F32, F32, pk_norm_i16>),
    valu("v_cvt_pk_norm_u16_f32", map2<U32, F32, F32, pk_norm_u16>),
    half("v_cvt_pk_norm_i16_f16", map2<U32, F16, F16, pk_norm_i16>),
    half("v_cvt_pk_norm_u16_f16", map2<U32, F16, F16, pk_norm_u16>),
    valu("v_cvt_pk_i16_f32", map2<U32, F32, F32, pk_i16_f32>),
    valu("v_cvt_pk_u16_f32", map2<U32, F32, F32, pk_u16_f32>),
    valu("v_cvt_pk_i16_i32", map2<U32, I32, I32, pk_i16_i32>),
    valu("v_cvt_pk_u16_u32", map2<U32, U32, U32, pk_u16_u32>),
    valu("v_cvt_pk_u8_f32", map3<U32, F32, U32, U32, pk_u8_f32>),
    valu("v_cvt_pk_rtz_f16_f32", map2<U32, F32, F32, pk_rtz>),
    valu("v_sat_pk_u8_i16", map1<U16, U32, sat_pk_u8_i16>),
};

}  // namespace

std::span<const Opcode> vector_convert_opcodes() { return kOpcodes; }

}  // namespace radiance::emulator
