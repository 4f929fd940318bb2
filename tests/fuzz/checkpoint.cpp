// A whole directory: config.json, a zero byte, a safetensors header, a zero byte, tensor bytes. The
// file around the header is made right, so that the fuzzer gets past it to the modules: what opens
// is inspected, and every layer that can be loaded is.
#include <stdlib.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "checkpoint/inspection.hpp"
#include "radiance/error.hpp"

namespace {

namespace fs = std::filesystem;

// In memory where the system offers that.
const fs::path& directory() {
  static const fs::path path = [] {
    std::error_code error;
    const fs::path base = fs::is_directory("/dev/shm", error) ? "/dev/shm" : "/tmp";
    std::string pattern = (base / "radiance-fuzz-XXXXXX").string();
    if (mkdtemp(pattern.data()) == nullptr) std::abort();
    static const std::string name = pattern;
    std::atexit([] {
      std::error_code ignored;
      fs::remove_all(name, ignored);
    });
    return fs::path(pattern);
  }();
  return path;
}

void write(const char* name, std::string_view bytes) {
  std::ofstream file(directory() / name, std::ios::binary | std::ios::trunc);
  file.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
}

// How many bytes the header's tensors claim, within reason.
size_t claimed_bytes(std::string_view header) {
  constexpr uint64_t kMost = 1u << 16;
  uint64_t most = 0;
  const auto json = nlohmann::json::parse(header.begin(), header.end(), nullptr, false);
  if (!json.is_object()) return 0;
  for (const auto& entry : json) {
    if (!entry.is_object() || !entry.contains("data_offsets")) continue;
    const auto& offsets = entry["data_offsets"];
    if (!offsets.is_array()) continue;
    for (const auto& offset : offsets) {
      if (offset.is_number_unsigned()) most = std::max(most, offset.get<uint64_t>());
    }
  }
  return static_cast<size_t>(std::min(most, kMost));
}

void exercise() {
  using namespace radiance;
  const auto checkpoint = Checkpoint::open(directory(), {.allow_problems = true});
  const Inspection inspection = inspect(checkpoint);
  (void)inspection_json(checkpoint, inspection).dump();
  (void)inspection_text(checkpoint, inspection, true);
  for (const LinearModule& module : checkpoint.modules()) {
    try {
      const auto weight = checkpoint.load_linear(module, {.allow_asymmetric = true});
      if (const auto* int4 = std::get_if<Int4Weight>(&weight)) {
        if (int4->codes.size() != static_cast<size_t>(int4->k / 8 * int4->n)) std::abort();
      }
    } catch (const Error&) {
    }
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view input(reinterpret_cast<const char*>(data), size);
  const size_t first = std::min(input.find('\0'), size);
  const std::string_view config = input.substr(0, first);
  const std::string_view rest = input.substr(std::min(first + 1, size));
  const size_t second = std::min(rest.find('\0'), rest.size());
  const std::string_view header = rest.substr(0, second);
  std::string bytes(rest.substr(std::min(second + 1, rest.size())));
  // The last byte goes on: zeros and scales are often one repeated value.
  bytes.resize(claimed_bytes(header), bytes.empty() ? '\0' : bytes.back());
  std::string file(sizeof(uint64_t), '\0');
  const uint64_t length = header.size();
  std::memcpy(file.data(), &length, sizeof(length));
  write("config.json", config);
  write("model.safetensors", file + std::string(header) + bytes);
  try {
    exercise();
  } catch (const radiance::Error&) {
  }
  return 0;
}
