// What the load and store mnemonics of every memory family move.
#pragma once

#include "emulator/lane_transfer.hpp"

namespace radiance::emulator::forms {

inline constexpr LaneForm kU8{1}, kI8{1, true}, kU16{2}, kI16{2, true};
inline constexpr LaneForm kB32{4}, kB64{8}, kB96{12}, kB128{16};
inline constexpr LaneForm kU8Low{1, false, RegisterPart::kLow};
inline constexpr LaneForm kI8Low{1, true, RegisterPart::kLow};
inline constexpr LaneForm kU16Low{2, false, RegisterPart::kLow};
inline constexpr LaneForm kU8High{1, false, RegisterPart::kHigh};
inline constexpr LaneForm kI8High{1, true, RegisterPart::kHigh};
inline constexpr LaneForm kU16High{2, false, RegisterPart::kHigh};

}  // namespace radiance::emulator::forms
