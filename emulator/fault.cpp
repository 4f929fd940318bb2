#include "emulator/fault.hpp"

namespace radiance::emulator {

void fault(const std::string& sentence) { throw Fault(sentence); }

}  // namespace radiance::emulator
