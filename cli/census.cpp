// radiance census: what gfx1201 kernels are made of, and how much of their main loop is products.
#include <fmt/format.h>

#include <memory>

#include "checkpoint/mapped_file.hpp"
#include "cli/command.hpp"
#include "cli/common.hpp"
#include "lab/census_library.hpp"
#include "radiance/error.hpp"

namespace radiance::cli {

namespace {

using nlohmann::json;

struct Options {
  CommonOptions common;
  std::string file, kernel;
  bool classes = false;
};

std::string number(const json& value, int decimals) {
  return value.is_null() ? "-" : fmt::format("{:.{}f}", value.get<double>(), decimals);
}

void print_kernels(const json& kernels) {
  TextTable table(
      {"kernel",    "instr",      "VGPR",  "SGPR",  "LDS",        "scratch",      "spills",
       "occupancy", "main loop",  "wmma",  "valu",  "vopd",       "salu",         "lds",
       "global",    "full waits", "trips", "share", "LDS B/wmma", "global B/wmma"},
      1);
  for (const json& kernel : kernels) {
    std::vector<std::string> cells{kernel.at("name").get<std::string>()};
    for (const char* field :
         {"instructions", "vgprs", "sgprs", "lds_bytes", "scratch_bytes", "spills", "occupancy"}) {
      cells.push_back(kernel.at(field).dump());
    }
    const json& loop = kernel.at("main_loop");
    if (loop.is_null()) {
      cells.resize(20, "-");
    } else {
      for (const char* field : {"instructions", "wmma", "valu", "vopd", "salu", "lds", "global",
                                "full_waits", "round_trips"}) {
        cells.push_back(loop.at(field).dump());
      }
      cells.push_back(number(loop.at("wmma_share"), 1) + " %");
      cells.push_back(number(loop.at("lds_bytes_per_wmma"), 0));
      cells.push_back(number(loop.at("global_bytes_per_wmma"), 0));
    }
    table.add(std::move(cells));
  }
  table.print();
}

// Every class that a kernel has any of, of the whole and of the main loop.
void print_classes(const json& kernel) {
  fmt::print("\n{}\n", kernel.at("name").get<std::string>());
  TextTable table({"class", "kernel", "main loop"}, 1);
  const json& loop = kernel.at("main_loop");
  for (const auto& [name, count] : kernel.at("classes").items()) {
    if (count == 0) continue;
    table.add({name, count.dump(), loop.is_null() ? "-" : loop.at("classes").at(name).dump()});
  }
  table.print();
}

json take(const Options& options) {
  const lab::CensusLibrary library;
  if (options.file.empty()) return lab::take_embedded_census(library);
  const MappedFile file(options.file);
  try {
    return library.take(file.bytes());
  } catch (const Error& error) {
    throw Error(error.status(), options.file + ": " + error.what());
  }
}

void run_census(const Options& options, const CLI::App& app) {
  json census = take(options);
  json& kernels = census.at("kernels");
  if (!options.kernel.empty()) {
    json kept = json::array();
    for (const json& kernel : kernels) {
      if (kernel.at("name").get<std::string>().find(options.kernel) != std::string::npos) {
        kept.push_back(kernel);
      }
    }
    if (kept.empty()) {
      throw Error(RADIANCE_INVALID_ARGUMENT, "no kernel's name contains " + options.kernel);
    }
    kernels = std::move(kept);
  }
  print_kernels(kernels);
  if (options.classes) {
    for (const json& kernel : kernels) print_classes(kernel);
  }
  fmt::print(
      "share: 8 clocks of the vector pipe a WMMA, of those and 1 for every VALU or VOPD "
      "instruction; trips: stops for global loads between two barriers\n");
  for (const json& kernel : kernels) {
    if (kernel.at("allocated_occupancy") < kernel.at("occupancy")) {
      fmt::print("{}: {} waves a SIMD by the compiler's count, {} with LDS in granules of 1 KB\n",
                 kernel.at("name").get<std::string>(), kernel.at("occupancy").dump(),
                 kernel.at("allocated_occupancy").dump());
    }
  }
  census["arch"] = "gfx1201";
  write_report(options.common, app, 0, nullptr, census);
}

}  // namespace

void add_census(CLI::App& app, int*) {
  auto options = std::make_shared<Options>();
  CLI::App* census =
      app.add_subcommand("census", "instructions, registers and main loops of gfx1201 kernels");
  census->add_option("file", options->file,
                     "a gfx1201 code object (default: the kernels of this build)");
  census->add_option("--kernel", options->kernel, "only kernels whose name contains this");
  census->add_flag("--classes", options->classes, "every class of instructions, a kernel a table");
  census->add_option("--json", options->common.json, "write the results to this file");
  census->callback([options, census] { run_census(*options, *census); });
}

}  // namespace radiance::cli
