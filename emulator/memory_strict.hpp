// Strict checks that all memory families share: operands before, outstanding results after.
#pragma once

#include <cstdint>

#include "emulator/strict.hpp"
#include "emulator/wave.hpp"

namespace radiance::emulator {

// Faults unless every source register is written in the active lanes and waited for.
void check_memory_sources(const Instruction& in, const Wave& wave);

// Faults where `dst` still awaits a result on another counter than `counter`: results of one
// counter arrive in order, so that a later load may follow an earlier one into the same register
// (d16 pairs do).
void check_memory_destination(const Instruction& in, const Wave& wave, const Operand& dst,
                              Counter counter);

}  // namespace radiance::emulator
