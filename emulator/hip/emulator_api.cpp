// The functions of radiance_emulator.h.
#include "emulator/hip/radiance_emulator.h"

#include <string>

#include "emulator/hip/errors.hpp"
#include "emulator/hip/state.hpp"

namespace radiance::emulator::hip {
namespace {

// The text that this thread was given last.
std::string& returned_text() {
  thread_local std::string text;
  return text;
}

const char* give(std::string text) noexcept {
  returned_text() = std::move(text);
  return returned_text().c_str();
}

}  // namespace

RADIANCE_HIP_EXPORT const char* radiance_emulator_version() {
  return "Radiance gfx1201 emulator " RADIANCE_VERSION;
}

RADIANCE_HIP_EXPORT int radiance_emulator_set_option(const char* name, const char* value) {
  return api([&] {
    require(name != nullptr && value != nullptr, kInvalidValue, "an option or its value is null");
    state().set_option(name, value);
  });
}

RADIANCE_HIP_EXPORT const char* radiance_emulator_last_report() { return last_report(); }

RADIANCE_HIP_EXPORT const char* radiance_emulator_counters() {
  return give(state().counters_json());
}

RADIANCE_HIP_EXPORT void radiance_emulator_reset_counters() { state().reset_counters(); }

RADIANCE_HIP_EXPORT const char* radiance_emulator_supported() { return give(supported_matrix()); }

}  // namespace radiance::emulator::hip
