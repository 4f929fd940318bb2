// The C face of libradiance_census, which the instruments load on demand: with it comes LLVM.
#pragma once

#include <cstddef>
#include <cstdint>

#define RADIANCE_CENSUS_API extern "C" __attribute__((visibility("default")))

// What radiance_census_version returns; a library of another version is not used.
inline constexpr int kRadianceCensusVersion = 1;

RADIANCE_CENSUS_API int radiance_census_version();

// The census of a gfx1201 code object. Returns 0 and JSON text, as to_json of census.hpp writes it,
// or 1 and a sentence. *text is ended by a zero and given back to radiance_census_free; null
// without memory.
RADIANCE_CENSUS_API int radiance_census_take(const uint8_t* bytes, size_t size, char** text);

RADIANCE_CENSUS_API void radiance_census_free(char* text);
