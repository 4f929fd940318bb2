// How the cpu target lays out a packed weight, whatever the instruction set.
//
// N is cut into tiles of 16 features, one a 32-bit lane of a 512-bit register. A block holds 8
// consecutive k of a tile in 64 bytes; lane n is one word: nibble j of its low half is the code of
// k = 2j, nibble j of its high half the code of k = 2j + 1. A 16-bit table lookup (vpermw) on the
// word shifted right by 4j therefore gives the bf16 pair (2j, 2j + 1) of each n: just what
// vdpbf16ps takes, and just a row of an AMX B tile.
//
//   codes  [tile][k / 8][16] u32     features past N hold the code of zero
//   scales [tile][group][16] fp16 or E8M0 byte; past N fp16 0 or byte 0
#pragma once

#include <cstddef>
#include <cstdint>

namespace radiance::cpu {

constexpr uint32_t kLayoutVersion = 1;
constexpr int64_t kTileN = 16;
constexpr int64_t kBlockK = 8;
constexpr int64_t kBlockBytes = kTileN * kBlockK / 2;

// The bit at which the code of k (0..7) stands in its lane's word.
constexpr int code_shift(int k) { return (k % 2) * 16 + (k / 2) * 4; }

constexpr int64_t tiles_of(int64_t n) { return (n + kTileN - 1) / kTileN; }

}  // namespace radiance::cpu
