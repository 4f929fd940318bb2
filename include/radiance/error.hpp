// The one exception type: a status code and one clear sentence.
#pragma once

#include <stdexcept>
#include <string>

#include "radiance/radiance.h"

namespace radiance {

// Thrown inside the library and by the C++ wrapper; it never crosses the C ABI.
class Error : public std::runtime_error {
 public:
  Error(radiance_status status, const std::string& sentence)
      : std::runtime_error(sentence), status_(status) {}
  radiance_status status() const noexcept { return status_; }

 private:
  radiance_status status_;
};

}  // namespace radiance
