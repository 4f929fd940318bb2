// The counters of a kernel as a JSON object.
#pragma once

#include <cstdint>
#include <string>

#include "emulator/counters.hpp"

namespace radiance::emulator::hip {

// One line. The counters are sums over `launches`.
std::string counters_json(const std::string& kernel, uint64_t launches, const Counters& counters);

}  // namespace radiance::emulator::hip
