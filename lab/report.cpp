#include "lab/report.hpp"

#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <system_error>

#include "lab/commit.hpp"
#include "radiance/error.hpp"

namespace radiance::lab {

namespace {

constexpr int kSchema = 1;

std::string compiler() {
#if defined(__clang__)
  return std::string("clang ") + __clang_version__;
#else
  return std::string("gcc ") + __VERSION__;
#endif
}

}  // namespace

const char* build_commit() { return RADIANCE_COMMIT; }

uint64_t clock_seed() {
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  const uint64_t us =
      static_cast<uint64_t>(std::chrono::duration_cast<std::chrono::microseconds>(now).count());
  return us & ((uint64_t{1} << 53) - 1);
}

nlohmann::json report_header(const std::string& command, uint64_t seed, const Device* device) {
  nlohmann::json header;
  header["schema"] = kSchema;
  header["commit"] = build_commit();
  header["compiler"] = compiler();
  header["command"] = command;
  header["seed"] = seed;
  for (const char* of_device : {"driver", "device", "arch"}) header[of_device] = nullptr;
  if (device != nullptr) {
    header["driver"] = device->info().driver;
    header["device"] = device->info().description;
    header["arch"] = device->info().arch;
  }
  return header;
}

void write_json(const std::string& path, const nlohmann::json& data) {
  std::error_code error;
  const auto write = [&](const std::string& to) {
    std::ofstream file(to, std::ios::binary | std::ios::trunc);
    file << data.dump(2) << '\n';
    file.close();
    return file.good();
  };
  // A pipe or a device, /dev/stdout say, is written to, not replaced.
  const bool special =
      std::filesystem::exists(path, error) && !std::filesystem::is_regular_file(path, error);
  const std::string temporary = special ? path : path + ".tmp" + std::to_string(getpid());
  const bool good = write(temporary);
  error.clear();
  if (good && !special) std::filesystem::rename(temporary, path, error);
  if (!good || error) {
    std::error_code ignored;
    if (!special) std::filesystem::remove(temporary, ignored);
    throw Error(RADIANCE_BAD_INPUT, "cannot write the results to " + path);
  }
}

}  // namespace radiance::lab
