// VOPD: two vector operations in one instruction. Both read their sources before either writes.
#pragma once

#include <deque>

#include "emulator/instruction.hpp"

namespace radiance::emulator {

// Makes `out` (with text, address and size already there) execute x and y together.
void make_dual(const Instruction& x, const Instruction& y, Instruction& out,
               std::deque<Instruction>& halves);

}  // namespace radiance::emulator
