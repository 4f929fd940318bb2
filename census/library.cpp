#include "census/library.hpp"

#include <cstdlib>
#include <cstring>
#include <exception>
#include <string>

#include "census/census.hpp"

int radiance_census_version() { return kRadianceCensusVersion; }

int radiance_census_take(const uint8_t* bytes, size_t size, char** text) {
  *text = nullptr;
  try {
    *text = strdup(radiance::census::to_json(radiance::census::take_census({bytes, size}))
                       .dump(-1, ' ', false, nlohmann::json::error_handler_t::replace)
                       .c_str());
    return 0;
  } catch (const std::exception& error) {
    *text = strdup(error.what());
    return 1;
  }
}

void radiance_census_free(char* text) { std::free(text); }
