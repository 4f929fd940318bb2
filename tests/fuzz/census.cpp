// A code object as a user may give it to `radiance census`: read, disassembled, its loops found.
#include "census/library.hpp"

#include <cstdlib>
#include <cstring>

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  char* text = nullptr;
  radiance_census_take(data, size, &text);
  if (text == nullptr || std::strlen(text) == 0) std::abort();
  radiance_census_free(text);
  return 0;
}
