// What every result file begins with, and how it is written.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>

#include "runtime/device.hpp"

namespace radiance::lab {

// The fields that every JSON file holds: schema, commit, compiler, driver, device, arch, command,
// seed. `command` is the command line as a reader would repeat it; without a device, the fields
// that describe one are null.
nlohmann::json report_header(const std::string& command, uint64_t seed, const Device* device);

// Writes the data, indented, to a temporary file beside `path` and renames it. Throws Error naming
// the path.
void write_json(const std::string& path, const nlohmann::json& data);

// A seed from the clock, for runs that were not given one: below 2^53, so that every JSON reader
// keeps it.
uint64_t clock_seed();

// The commit that the sources were built from, "-dirty" appended if they were changed; "unknown"
// outside a repository.
const char* build_commit();

}  // namespace radiance::lab
