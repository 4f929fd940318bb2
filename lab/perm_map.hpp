// What each selector byte of v_perm_b32 does, found out from the device.
#pragma once

#include <array>
#include <cstdint>
#include <string>

#include "kernels/hardware_probes.hpp"
#include "lab/random.hpp"

namespace radiance::lab {

// A byte of the result as a function of S0 and S1; of the eight bytes, 0..3 are S1's and 4..7 S0's.
struct PermMeaning {
  enum class Kind { kUnknown, kByte, kSign, kConstant };
  Kind kind = Kind::kUnknown;
  int value = 0;  // which byte; the constant
  bool operator==(const PermMeaning&) const = default;
};

// "byte 1 of S1", "sign of byte 3 of S0", "0xff"; "depends on more than a byte" for kUnknown.
std::string describe(const PermMeaning& meaning);

// From the instruction set's manual: a byte each for 0..7; the sign of bytes 1, 3, 5, 7, eight
// times, for 8..11; 0x00 for 12; 0xff above.
PermMeaning documented_perm(int selector);

struct PermMap {
  std::array<PermMeaning, 256> meaning;
  // Of 4096 random operands with four different selectors each: how many results are not what the
  // map says byte by byte.
  int wrong_words = 0;
};

PermMap probe_perm(HardwareProbes& probes, Random& random);

}  // namespace radiance::lab
