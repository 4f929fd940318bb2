// What the subcommands share: options, tables for people, progress on a terminal.
#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "runtime/device.hpp"

namespace radiance::cli {

struct CommonOptions {
  std::string device;  // "" = the best present
  int threads = 0;     // 0 = as many as this process may run on
  std::string json;    // "" = none
  std::optional<uint64_t> seed;
  bool strict = false;
  std::optional<uint64_t> order_seed;

  DeviceOptions device_options() const { return {threads, strict, order_seed}; }

  // The seed asked for, or one from the clock.
  uint64_t seed_or_clock() const;
};

// Adds --device, --threads and --json, and --seed where `seeded`.
void add_common_options(CLI::App& app, CommonOptions& options, bool seeded);

// The subcommand with the options it was given, as a reader would repeat it: without --json, paths
// cut to their last component.
std::string command_line(const CLI::App& app);

// Merges `data` into the report's header and writes it to options.json, if that is asked for.
void write_report(const CommonOptions& options, const CLI::App& app, uint64_t seed,
                  const Device* device, const nlohmann::json& data);

// Columns of text, as wide as they need; the first `left` columns are aligned to the left.
class TextTable {
 public:
  TextTable(std::vector<std::string> headings, size_t left);
  void add(std::vector<std::string> cells);
  bool empty() const { return rows_.size() == 1; }
  void print() const;  // to stdout

 private:
  std::vector<std::vector<std::string>> rows_;
  size_t left_;
};

// One line on stderr that says what is being done, if stderr is a terminal.
class Progress {
 public:
  Progress();
  ~Progress() { clear(); }
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  void show(const std::string& what);
  void clear();

 private:
  bool terminal_;
  bool shown_ = false;
};

// Splits at commas; throws Error naming the option if a part is empty.
std::vector<std::string> split_list(const std::string& option, const std::string& text);

}  // namespace radiance::cli
