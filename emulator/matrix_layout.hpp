// Where the elements of a 16x16 matrix product stand in the registers of a wave32 on gfx12.
//
// Documented (and measured by others on the card for fp8, f16 and iu8): a lane holds one row of A,
// or one column of B, over half of k; of C and D it holds one column over half of the rows. For a
// type narrower than 32 bits, element 0 of a lane is in the low bits of its first register.
//
// SWMMAC: of each four consecutive k of A only two are stored. The lane's index register says
// which: two bits an element, element 0 in the low bits, in the half that index_key names where a
// lane has eight elements (16 bits of index). B is dense, twice as long. That a lane's own index
// register describes its own elements is an assumption; programs that give all lanes one index
// cannot tell.
//
// How the two halves of a wave divide k can be seen only where A and B divide it differently, which
// no instruction here does.
#pragma once

#include "numerics/host_device.hpp"

namespace radiance::emulator {

inline constexpr int kMatrixSize = 16;  // rows and columns of C and D
inline constexpr int kWaveLanes = 32;

// A and B: lane and element (not register) of [row][k] with `elements` a lane.
constexpr int operand_lane(int row, int k, int elements) { return row + 16 * (k / elements); }
constexpr int operand_element(int k, int elements) { return k % elements; }

// C and D in 32 bits: [row m][column n] is in register result_register of lane result_lane; in 16
// bits two rows share a register, the even one in its low half.
constexpr int result_lane(int m, int n) { return n + 16 * (m / 8); }
constexpr int result_register(int m) { return m % 8; }

// Which of the four dense positions of its group a stored element of A stands for.
constexpr int sparse_position(u32 index, int element) {
  return static_cast<int>((index >> (2 * element)) & 3u);
}

// global_load_tr: the memory lane and the element of it that output lane and element receive. Eight
// lanes exchange an 8x8 block: lanes 0-3 and 8-11, 4-7 and 12-15, and so on. Measured by others on
// the card for b64 (bytes); assumed alike for b128 (16-bit elements).
constexpr int transposed_source_lane(int lane, int element) {
  return 4 * ((lane >> 3) & 1) + 16 * (lane >> 4) + (element & 3) + 8 * (element >> 2);
}
constexpr int transposed_source_element(int lane) { return lane & 7; }

}  // namespace radiance::emulator
