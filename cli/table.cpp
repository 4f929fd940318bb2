// radiance table: derives and checks the int4 -> e4m3 table and emits the constants.
#include <fmt/format.h>

#include <memory>

#include "cli/command.hpp"
#include "cli/common.hpp"
#include "lab/code_table_report.hpp"
#include "lab/elements.hpp"

namespace radiance::cli {

namespace {

nlohmann::json to_json(const lab::CodeTableReport& report) {
  nlohmann::json entries = nlohmann::json::array();
  for (const lab::CodeEntry& entry : report.entries) {
    entries.push_back({{"code", entry.code},
                       {"value", entry.value},
                       {"byte", entry.byte},
                       {"exact", entry.good()}});
  }
  return {{"format", lab::format_name(report.format)},
          {"entries", entries},
          {"words", report.words},
          {"good", report.good()}};
}

void run_table(const CommonOptions& options, const CLI::App& app, int* exit_status) {
  nlohmann::json tables = nlohmann::json::array();
  bool good = true;
  for (const radiance_format format : {RADIANCE_AUTOROUND_INT4, RADIANCE_MXFP4}) {
    const lab::CodeTableReport report = lab::code_table_report(format);
    fmt::print("{}: code, value, e4m3 byte\n", lab::format_name(format));
    TextTable table({"code", "value", "byte", "binary", "exact"}, 0);
    for (const lab::CodeEntry& entry : report.entries) {
      table.add({std::to_string(entry.code), fmt::format("{}", entry.value),
                 fmt::format("{:#04x}", entry.byte), fmt::format("{:08b}", entry.byte),
                 entry.good() ? "yes" : "NO"});
    }
    table.print();
    fmt::print("words of codes 0-3, 4-7, 8-11, 12-15: {:#010x} {:#010x} {:#010x} {:#010x}\n\n",
               report.words[0], report.words[1], report.words[2], report.words[3]);
    good = good && report.good();
    tables.push_back(to_json(report));
  }
  fmt::print("{}\n", good ? "every code is exact in e4m3" : "a code is NOT exact in e4m3");
  write_report(options, app, 0, nullptr, {{"tables", tables}});
  *exit_status = good ? 0 : 1;
}

}  // namespace

void add_table(CLI::App& app, int* exit_status) {
  auto options = std::make_shared<CommonOptions>();
  CLI::App* table =
      app.add_subcommand("table", "derives and checks the int4 -> e4m3 table, emits the constants");
  table->add_option("--json", options->json, "write the results to this file");
  table->callback([options, table, exit_status] { run_table(*options, *table, exit_status); });
}

}  // namespace radiance::cli
