#include "checkpoint/quantize_journal.hpp"

#include <algorithm>

#include "checkpoint/failure.hpp"
#include "checkpoint/json.hpp"
#include "checkpoint/mapped_file.hpp"
#include "checkpoint/output_file.hpp"

namespace radiance {

namespace fs = std::filesystem;

namespace {

constexpr uint64_t kMaxJournalBytes = 256u << 20;

nlohmann::json to_json(const JournalShard& shard) {
  nlohmann::json layers = nlohmann::json::array();
  for (const JournalLayer& layer : shard.layers) {
    layers.push_back({{"name", layer.name},
                      {"N", layer.n},
                      {"K", layer.k},
                      {"relative_error", layer.error.relative()},
                      {"squared_error", layer.error.squared_error},
                      {"squared_weight", layer.error.squared_weight},
                      {"largest_error", layer.error.largest}});
  }
  return {{"file", shard.file_name}, {"bytes", shard.bytes}, {"layers", layers}};
}

JournalShard shard_from_json(const nlohmann::json& json) {
  JournalShard shard;
  shard.file_name = json.at("file").get<std::string>();
  shard.bytes = json.at("bytes").get<uint64_t>();
  for (const auto& layer : json.at("layers")) {
    shard.layers.push_back(
        {layer.at("name").get<std::string>(),
         layer.at("N").get<int64_t>(),
         layer.at("K").get<int64_t>(),
         {layer.at("squared_error").get<double>(), layer.at("squared_weight").get<double>(),
          layer.at("largest_error").get<float>()}});
  }
  return shard;
}

}  // namespace

QuantizeJournal::QuantizeJournal(const fs::path& directory, nlohmann::json settings,
                                 nlohmann::json source)
    : directory_(directory), settings_(std::move(settings)), source_(std::move(source)) {}

void QuantizeJournal::resume() {
  const fs::path path = directory_ / kJournalName;
  std::error_code error;
  if (!fs::exists(path, error)) return;
  const nlohmann::json json = parse_json(read_text_file(path, kMaxJournalBytes), path.string());
  try {
    if (json.at("settings") != settings_) {
      fail(RADIANCE_INVALID_ARGUMENT,
           "{} was begun with other settings ({}) than asked for now ({}); remove it or choose "
           "another destination",
           directory_.string(), json.at("settings").dump(), settings_.dump());
    }
    if (json.at("source") != source_) {
      fail(RADIANCE_INVALID_ARGUMENT,
           "{} was begun from another source, or the source's files have changed since; remove it "
           "or choose another destination",
           directory_.string());
    }
    for (const auto& shard : json.at("shards")) shards_.push_back(shard_from_json(shard));
  } catch (const nlohmann::json::exception&) {
    bad_input("{} is damaged; remove {} or choose another destination", path.string(),
              directory_.string());
  }
}

const JournalShard* QuantizeJournal::finished(const std::string& file_name) const {
  const auto it = std::find_if(shards_.begin(), shards_.end(), [&](const JournalShard& shard) {
    return shard.file_name == file_name;
  });
  std::error_code error;
  return it != shards_.end() && fs::file_size(directory_ / file_name, error) == it->bytes && !error
             ? &*it
             : nullptr;
}

void QuantizeJournal::record(JournalShard shard) {
  std::erase_if(shards_, [&](const JournalShard& old) { return old.file_name == shard.file_name; });
  shards_.push_back(std::move(shard));
  write();
}

void QuantizeJournal::write() const {
  nlohmann::json shards = nlohmann::json::array();
  for (const JournalShard& shard : shards_) shards.push_back(to_json(shard));
  const nlohmann::json json = {
      {"schema", 1}, {"settings", settings_}, {"source", source_}, {"shards", shards}};
  write_text_file(directory_ / kJournalName, json.dump(2) + "\n");
}

}  // namespace radiance
