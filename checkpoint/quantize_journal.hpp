// The record of a conversion, kept in its destination: what was asked, of which files, what is
// done.
#pragma once

#include <cstdint>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "checkpoint/quantize.hpp"
#include "checkpoint/round_to_nearest.hpp"

namespace radiance {

struct JournalLayer {
  std::string name;
  int64_t n = 0;
  int64_t k = 0;
  WeightError error;
};

struct JournalShard {
  std::string file_name;
  uint64_t bytes = 0;
  std::vector<JournalLayer> layers;
};

// Settings and source decide what a shard holds: a finished one is good for a run that agrees on
// both.
class QuantizeJournal {
 public:
  // `settings` and `source` are compared as a whole.
  QuantizeJournal(const std::filesystem::path& directory, nlohmann::json settings,
                  nlohmann::json source);

  // Reads the journal of an earlier run, if there is one. Throws Error: RADIANCE_INVALID_ARGUMENT
  // when it was for other settings or another source, RADIANCE_BAD_INPUT when it is damaged.
  void resume();

  // The shard, if it is finished and its file still has the size it was written with.
  const JournalShard* finished(const std::string& file_name) const;
  // Adds a shard and writes the journal.
  void record(JournalShard shard);
  void write() const;

  const std::vector<JournalShard>& shards() const { return shards_; }

 private:
  std::filesystem::path directory_;
  nlohmann::json settings_;
  nlohmann::json source_;
  std::vector<JournalShard> shards_;
};

}  // namespace radiance
