// How a handler stops a launch. The scheduler catches it and adds kernel, workgroup, wave, address
// and source line.
#pragma once

#include <stdexcept>
#include <string>

namespace radiance::emulator {

class Fault : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// One clear sentence without a full stop: "lane 3 loads 4 bytes at 0x..., 8 bytes past the end of
// ...".
[[noreturn]] void fault(const std::string& sentence);

}  // namespace radiance::emulator
