// Events; see event.cpp for the exported functions.
#pragma once

namespace radiance::emulator::hip {

// hipDeviceReset.
void destroy_all_events();

}  // namespace radiance::emulator::hip
