#include "lab/call_counters.hpp"

namespace radiance::lab {

namespace {

using nlohmann::json;

// Adds the numbers of `from` to those of `to`, member by member; names are left out.
void add_numbers(json& to, const json& from) {
  for (const auto& [name, value] : from.items()) {
    if (value.is_object()) {
      if (!to.contains(name)) to[name] = json::object();
      add_numbers(to[name], value);
    } else if (value.is_number()) {
      const uint64_t sum = to.value(name, uint64_t{0}) + value.get<uint64_t>();
      to[name] = sum;
    }
  }
}

int64_t parts(int64_t extent, int64_t of) { return (extent + of - 1) / of; }

}  // namespace

json summarized_counters(const std::string& text, int64_t m, int64_t n, int64_t k) {
  constexpr int64_t kTile = 16, kSlab = 128;
  json counters = json::parse(text);
  json sums = json::object();
  for (const json& kernel : counters.at("kernels")) add_numbers(sums, kernel);
  const auto tile_slabs = static_cast<double>(parts(m, kTile) * parts(n, kTile) * parts(k, kSlab));
  json per_tile_slab = json::object();
  const json classes = sums.value("instructions", json::object());
  for (const auto& [name, count] : classes.items()) {
    per_tile_slab[name] = count.get<double>() / tile_slabs;
  }
  if (sums.contains("wave_instructions")) {
    per_tile_slab["all"] = sums.at("wave_instructions").get<double>() / tile_slabs;
  }
  counters["call"] = std::move(sums);
  counters["instructions_per_tile_slab"] = std::move(per_tile_slab);
  return counters;
}

}  // namespace radiance::lab
