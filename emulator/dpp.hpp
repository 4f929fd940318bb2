// DPP: the first source of a vector instruction taken from other lanes.
#pragma once

#include "emulator/instruction.hpp"

namespace radiance::emulator {

// The lane that `lane` reads from under the instruction's control, or -1 where there is none in its
// row.
int dpp_source_lane(const Modifiers& mod, int lane);

// Permutes source 0 into wave.permuted and runs the base handler on the lanes that are written.
void execute_dpp(const Instruction& in, Wave& wave);

}  // namespace radiance::emulator
