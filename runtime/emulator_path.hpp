// Where the emulator's libamdhip64 lies.
#pragma once

#include <string>
#include <vector>

namespace radiance {

// The places where it is looked for, in order, all relative to the library or program that this
// code is linked into:
//   installed  radiance/emulator/ beside libradiance, or in the lib folder beside the program's bin
//   built      emulator/hip/ in the build tree, one or two folders up
// It has a folder of its own so that nobody finds it instead of ROCm's by accident.
std::vector<std::string> emulator_paths();

}  // namespace radiance
