#include "cli/common.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <system_error>

#include "lab/report.hpp"
#include "radiance/error.hpp"

namespace radiance::cli {

uint64_t CommonOptions::seed_or_clock() const { return seed ? *seed : lab::clock_seed(); }

void add_common_options(CLI::App& app, CommonOptions& options, bool seeded) {
  app.add_option("--device", options.device,
                 "cpu (or cpu:ARCH), hip:N, cuda:N, emu; default: the best present");
  app.add_option("--threads", options.threads,
                 "cpu, emu: threads (default: all this process may use)")
      ->check(CLI::Range(0, 1024));
  app.add_flag(
      "--strict", options.strict,
      "emu: check what hardware cannot, such as reads of what was not written or waited for");
  app.add_option("--order-seed", options.order_seed,
                 "emu: run workgroups and waves in a random order that follows from this number")
      ->check(CLI::NonNegativeNumber);
  app.add_option("--json", options.json, "write the results to this file");
  if (seeded) {
    app.add_option("--seed", options.seed, "of the drawn inputs (default: the clock)")
        ->check(CLI::NonNegativeNumber);
  }
}

std::string command_line(const CLI::App& app) {
  std::string line = "radiance " + app.get_name();
  for (const CLI::Option* option : app.get_options()) {
    const std::string name = option->get_name();
    if (option->count() == 0 || name == "--json" || name == "--help") continue;
    if (!option->get_lnames().empty() || !option->get_snames().empty()) line += " " + name;
    if (option->get_expected_max() == 0) continue;  // a flag
    for (const std::string& value : option->results()) {
      // Of a path its name; a configuration has slashes too, and stands as it is.
      const std::filesystem::path path(value);
      std::error_code none;
      line += " " + (path.is_absolute() || std::filesystem::exists(path, none)
                         ? path.lexically_normal().filename().string()
                         : value);
    }
  }
  return line;
}

void write_report(const CommonOptions& options, const CLI::App& app, uint64_t seed,
                  const Device* device, const nlohmann::json& data) {
  if (options.json.empty()) return;
  nlohmann::json report = lab::report_header(command_line(app), seed, device);
  report.update(data);
  lab::write_json(options.json, report);
}

TextTable::TextTable(std::vector<std::string> headings, size_t left) : left_(left) {
  rows_.push_back(std::move(headings));
}

void TextTable::add(std::vector<std::string> cells) { rows_.push_back(std::move(cells)); }

void TextTable::print() const {
  std::vector<size_t> widths;
  for (const auto& row : rows_) {
    widths.resize(std::max(widths.size(), row.size()));
    for (size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], row[i].size());
  }
  for (const auto& row : rows_) {
    std::string line;
    for (size_t i = 0; i < row.size(); ++i) {
      if (i > 0) line += "  ";
      line += i < left_ ? fmt::format("{:<{}}", row[i], widths[i])
                        : fmt::format("{:>{}}", row[i], widths[i]);
    }
    line.erase(line.find_last_not_of(' ') + 1);
    fmt::print("{}\n", line);
  }
  std::fflush(stdout);
}

Progress::Progress() : terminal_(isatty(STDERR_FILENO) != 0) {}

void Progress::show(const std::string& what) {
  if (!terminal_) return;
  fmt::print(stderr, "\r\033[K{}", what);
  std::fflush(stderr);
  shown_ = true;
}

void Progress::clear() {
  if (!shown_) return;
  fmt::print(stderr, "\r\033[K");
  std::fflush(stderr);
  shown_ = false;
}

std::vector<std::string> split_list(const std::string& option, const std::string& text) {
  std::vector<std::string> parts;
  size_t from = 0;
  while (from <= text.size()) {
    const size_t to = std::min(text.find(',', from), text.size());
    if (to == from) {
      throw Error(RADIANCE_INVALID_ARGUMENT, fmt::format("{} {} has an empty part", option, text));
    }
    parts.push_back(text.substr(from, to - from));
    from = to + 1;
  }
  return parts;
}

}  // namespace radiance::cli
