#include "tests/kernels/gfx1201/emulator_control.hpp"

#include <dlfcn.h>

#include <nlohmann/json.hpp>
#include <stdexcept>

#include "runtime/emulator_path.hpp"

namespace radiance::gfx1201::test {
namespace {

template <typename Function>
void find(void* library, const char* name, Function*& function) {
  function = reinterpret_cast<Function*>(dlsym(library, name));
  if (function == nullptr) throw std::runtime_error(std::string("the emulator has no ") + name);
}

}  // namespace

EmulatorControl::EmulatorControl() {
  void* library = nullptr;
  for (const std::string& path : emulator_paths()) {
    if (library == nullptr) library = dlopen(path.c_str(), RTLD_NOW | RTLD_NOLOAD);
  }
  if (library == nullptr) throw std::runtime_error("no emulator is loaded");
  find(library, "radiance_emulator_set_option", set_option_);
  find(library, "radiance_emulator_counters", counters_);
  find(library, "radiance_emulator_reset_counters", reset_counters_);
  find(library, "hipDeviceReset", reset_device_);
}

bool EmulatorControl::set_option(const char* name, const std::string& value) const {
  return set_option_(name, value.c_str()) == 0;
}

std::vector<std::string> EmulatorControl::launched() const {
  std::vector<std::string> names;
  const auto counters = nlohmann::json::parse(counters_());
  for (const auto& kernel : counters.at("kernels")) {
    names.push_back(kernel.at("name").get<std::string>());
  }
  return names;
}

}  // namespace radiance::gfx1201::test
