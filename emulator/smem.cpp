// SMEM: scalar loads through the constant cache.
#include <fmt/format.h>

#include <cstring>

#include "emulator/handlers.hpp"
#include "emulator/memory.hpp"
#include "emulator/wave.hpp"

namespace radiance::emulator {
namespace {

uint64_t offset_of(const Instruction& in, const Wave& wave) {
  // "s[0:1], 0x10", "s[0:1], s2 offset:0x10" or "s[0:1], null".
  const Operand& second = in.src[1];
  // A constant is a signed 24-bit byte offset, a register an unsigned 32-bit one.
  return (second.kind == OperandKind::kConstant ? second.value : uint64_t{wave.scalar(second)}) +
         static_cast<uint64_t>(int64_t{in.mod.offset});
}

void check_sources(const Instruction& in, Wave& wave, unsigned base_registers) {
  if (!wave.strict) return;
  wave.strict->check_sgprs(in, in.src[0].index, base_registers);
  if (in.src[1].is_sgpr()) wave.strict->check_sgprs(in, in.src[1].index, 1);
}

void deliver(const Instruction& in, Wave& wave, unsigned dwords) {
  if (!wave.strict || in.dst[0].index == kSink) return;
  StrictState& state = *wave.strict;
  state.check_overwrite_sgprs(in, in.dst[0].index, dwords);
  const Sequence number = state.issue(Counter::kKm);
  state.pend_sgprs(in, in.dst[0].index, dwords, Counter::kKm, number);
}

const uint8_t* checked(Wave& wave, uint64_t address, unsigned bytes) {
  if (!wave.memory->accessible(address, bytes)) {
    fault(fmt::format("a scalar load of {} bytes at {:#x}, {}", bytes, address,
                      wave.memory->describe(address)));
  }
  return reinterpret_cast<const uint8_t*>(address);
}

// Dword loads ignore the low two address bits, as the hardware does; strict mode calls it an error.
uint64_t aligned(Wave& wave, uint64_t address) {
  if (wave.strict && address % 4) {
    fault(fmt::format("a scalar load at {:#x}, which is not aligned to 4 bytes", address));
  }
  return address & ~uint64_t{3};
}

template <unsigned Dwords>
void load(const Instruction& in, Wave& wave) {
  check_sources(in, wave, 2);
  const uint64_t address = aligned(wave, wave.scalar64(in.src[0]) + offset_of(in, wave));
  const uint8_t* from = checked(wave, address, Dwords * 4);
  std::memcpy(&wave.sgpr[in.dst[0].index], from, Dwords * 4);
  deliver(in, wave, Dwords);
}

template <typename T>
void load_small(const Instruction& in, Wave& wave) {
  check_sources(in, wave, 2);
  const uint64_t address = wave.scalar64(in.src[0]) + offset_of(in, wave);
  T value;
  std::memcpy(&value, checked(wave, address, sizeof(T)), sizeof(T));
  wave.set_scalar(in.dst[0], static_cast<uint32_t>(static_cast<int32_t>(value)));
  deliver(in, wave, 1);
}

// Through a buffer resource: what lies behind its end reads as zero.
template <unsigned Dwords>
void load_buffer(const Instruction& in, Wave& wave) {
  check_sources(in, wave, 4);
  const uint64_t base = wave.scalar64(in.src[0]) & 0xffffffffffff;
  const uint64_t stride = wave.scalar(in.src[0], 1) >> 16 & 0x3fff;
  const uint64_t records = wave.scalar(in.src[0], 2);
  const uint64_t bytes = stride ? stride * records : records;
  const uint64_t offset = offset_of(in, wave) & ~uint64_t{3};
  for (unsigned i = 0; i < Dwords; ++i) {
    uint32_t value = 0;
    if (offset + 4 * i + 4 <= bytes) {
      std::memcpy(&value, checked(wave, (base & ~uint64_t{3}) + offset + 4 * i, 4), 4);
    }
    wave.set_scalar(in.dst[0], value, static_cast<int>(i));
  }
  deliver(in, wave, Dwords);
}

const char* need_two_sources(Instruction& in) {
  return in.sources == 2 && in.src[0].is_sgpr() ? nullptr : "operands";
}

constexpr Opcode op(std::string_view mnemonic, Handler handler) {
  return {mnemonic,
          handler,
          OpClass::kScalarLoad,
          1,
          kOwnStrictChecks,
          {ConstantType::k32, ConstantType::k32},
          need_two_sources};
}

constexpr Opcode kOpcodes[] = {
    op("s_load_b32", load<1>),
    op("s_load_b64", load<2>),
    op("s_load_b96", load<3>),
    op("s_load_b128", load<4>),
    op("s_load_b256", load<8>),
    op("s_load_b512", load<16>),
    op("s_load_i8", load_small<int8_t>),
    op("s_load_u8", load_small<uint8_t>),
    op("s_load_i16", load_small<int16_t>),
    op("s_load_u16", load_small<uint16_t>),
    op("s_buffer_load_b32", load_buffer<1>),
    op("s_buffer_load_b64", load_buffer<2>),
    op("s_buffer_load_b96", load_buffer<3>),
    op("s_buffer_load_b128", load_buffer<4>),
    op("s_buffer_load_b256", load_buffer<8>),
    op("s_buffer_load_b512", load_buffer<16>),
};

}  // namespace

std::span<const Opcode> smem_opcodes() { return kOpcodes; }

}  // namespace radiance::emulator
