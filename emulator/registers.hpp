// Numbers of the scalar registers. Up to 127 they are the hardware's operand codes; what the
// hardware reads through other codes (SCC, the apertures) has a number of ours above, so that every
// scalar operand is an index into one array.
#pragma once

#include <cstdint>

namespace radiance::emulator {

constexpr uint16_t kVccLo = 106;
constexpr uint16_t kVccHi = 107;
constexpr uint16_t kTtmp0 = 108;  // .. ttmp15 = 123
constexpr uint16_t kNull = 124;   // reads zero; destinations are redirected to kSink
constexpr uint16_t kM0 = 125;
constexpr uint16_t kExecLo = 126;
constexpr uint16_t kExecHi = 127;
constexpr uint16_t kSink = 128;  // 16 registers that nothing reads: the destination "null"
constexpr uint16_t kScc = 144;
constexpr uint16_t kSharedBase = 146;  // pair: address of LDS in the flat address space
constexpr uint16_t kSharedLimit = 148;
constexpr uint16_t kPrivateBase = 150;  // pair: address of scratch in the flat address space
constexpr uint16_t kPrivateLimit = 152;
constexpr uint16_t kVccz = 154;  // written before an instruction that reads it
constexpr uint16_t kExecz = 155;
constexpr uint16_t kScalarRegisters = 160;

constexpr uint16_t kVectorRegisters = 256;

// Flat addresses: where the high dword equals an aperture's, the low dword is an LDS or a scratch
// offset. No host address looks like these (they are not canonical on x86-64).
constexpr uint64_t kSharedAperture = 0x0100'0000'0000'0000;
constexpr uint64_t kPrivateAperture = 0x0200'0000'0000'0000;

}  // namespace radiance::emulator
