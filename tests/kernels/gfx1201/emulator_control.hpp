// The emulator's own functions, of the library that an open device "emu" has loaded.
#pragma once

#include <string>
#include <vector>

namespace radiance::gfx1201::test {

class EmulatorControl {
 public:
  // Throws std::runtime_error if no emulator is loaded.
  EmulatorControl();

  // False for an option or value that there is not.
  bool set_option(const char* name, const std::string& value) const;
  void reset_counters() const { reset_counters_(); }
  // The kernels launched since the last reset.
  std::vector<std::string> launched() const;
  void reset_device() const { reset_device_(); }

 private:
  int (*set_option_)(const char*, const char*) = nullptr;
  const char* (*counters_)() = nullptr;
  void (*reset_counters_)() = nullptr;
  int (*reset_device_)() = nullptr;
};

}  // namespace radiance::gfx1201::test
