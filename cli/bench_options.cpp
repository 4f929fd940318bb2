#include "cli/bench_options.hpp"

#include <fmt/format.h>

#include <charconv>
#include <cmath>
#include <map>

#include "lab/elements.hpp"
#include "radiance/error.hpp"

namespace radiance::cli {

namespace {

constexpr int64_t kBetween[] = {1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128, 192};

int64_t parse_count(const std::string& option, const std::string& text) {
  int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || value < 1 || value > 1000000) {
    throw Error(RADIANCE_INVALID_ARGUMENT,
                fmt::format("{} takes numbers from 1 to 1000000, not {}", option, text));
  }
  return value;
}

}  // namespace

void add_bench_options(CLI::App& app, BenchCommandOptions& options) {
  add_common_options(app, options.common, true);
  app.add_option("--shapes", options.shapes, "gate_up, down, out or NxK, separated by commas")
      ->capture_default_str();
  app.add_option("--m", options.rows,
                 "numbers of rows, separated by commas; \"between\" stands for the powers of two "
                 "and the midpoints below 256")
      ->capture_default_str();
  app.add_option("--scope", options.scope,
                 "gemm: the product; op: with the quantization of the activations; both")
      ->capture_default_str()
      ->check(CLI::IsMember({"gemm", "op", "both"}));
  app.add_option("--group", options.group, "consecutive k with one scale of the int4 weights")
      ->capture_default_str();
  app.add_option("--copies", options.copies,
                 "copies of each weight to rotate over; auto: past the last-level cache")
      ->capture_default_str();
  app.add_option("--samples", options.samples, "samples that must count, a row")
      ->capture_default_str()
      ->check(CLI::Range(1, 10000));
  app.add_option(
         "--row-seconds", options.row_seconds,
         "end a row after this long with five samples or more, after twice as long with fewer")
      ->capture_default_str()
      ->check(CLI::PositiveNumber);
}

lab::BenchOptions to_bench_options(const BenchCommandOptions& options) {
  lab::BenchOptions bench;
  bench.seed = options.common.seed_or_clock();
  for (const std::string& shape : split_list("--shapes", options.shapes)) {
    bench.shapes.push_back(lab::bench_shape(shape));
  }
  for (const std::string& rows : split_list("--m", options.rows)) {
    if (rows == "between") {
      bench.rows.insert(bench.rows.end(), std::begin(kBetween), std::end(kBetween));
    } else {
      bench.rows.push_back(parse_count("--m", rows));
    }
  }
  if (options.format != "mxfp4") bench.formats.push_back(RADIANCE_AUTOROUND_INT4);
  if (options.format != "autoround") bench.formats.push_back(RADIANCE_MXFP4);
  if (options.scope != "op") bench.scopes.push_back(lab::Scope::kGemm);
  if (options.scope != "gemm") bench.scopes.push_back(lab::Scope::kOp);
  if (options.copies != "auto") {
    bench.copies = static_cast<int>(parse_count("--copies", options.copies));
  }
  bench.config = options.config;
  bench.rivals = options.rivals;
  bench.group = options.group;
  bench.limits.samples = options.samples;
  bench.limits.seconds = options.row_seconds;
  return bench;
}

void print_bench_heading(const Engine& engine, const lab::BenchOptions& options) {
  const DeviceInfo& info = engine.device().info();
  fmt::print("{} ({}), {}, {} units, last cache {:.0f} MiB; seed {}\n", info.name, info.description,
             info.arch, info.units, static_cast<double>(info.last_cache_bytes) / (1 << 20),
             options.seed);
}

void print_counters(const std::vector<lab::BenchRow>& rows) {
  TextTable table({"shape",        "format",      "scope",     "config",     "M",
                   "instructions", "wmma",        "valu",      "vopd",       "salu",
                   "LDS",          "global",      "waits",     "full waits", "barriers",
                   "MB loaded",    "MB distinct", "MB stored", "conflicts",  "a tile and slab"},
                  4);
  for (const lab::BenchRow& row : rows) {
    const nlohmann::json& call = row.counters.at("call");
    const nlohmann::json classes = call.value("instructions", nlohmann::json::object());
    const auto count = [&](const char* name) { return classes.value(name, uint64_t{0}); };
    const auto of = [&](const char* kind, const char* what) {
      return call.value(kind, nlohmann::json::object()).value(what, uint64_t{0});
    };
    const auto megabytes = [](uint64_t bytes) {
      return fmt::format("{:.2f}", static_cast<double>(bytes) * 1e-6);
    };
    constexpr uint64_t kLine = 128;
    table.add(
        {row.shape.name,
         lab::format_name(row.format),
         lab::scope_name(row.scope),
         row.config,
         std::to_string(row.m),
         std::to_string(call.value("wave_instructions", uint64_t{0})),
         std::to_string(count("wmma")),
         std::to_string(count("valu") + count("trans")),
         std::to_string(count("vopd")),
         std::to_string(count("salu") + count("smem")),
         std::to_string(count("lds_load") + count("lds_store") + count("lds_atomic")),
         std::to_string(count("global_load") + count("global_store") + count("global_atomic")),
         std::to_string(count("wait")),
         std::to_string(call.value("full_waits", uint64_t{0})),
         std::to_string(call.value("barriers", uint64_t{0})),
         megabytes(of("global_load", "bytes")),
         megabytes(of("global_load", "distinct_lines") * kLine),
         megabytes(of("global_store", "bytes")),
         std::to_string(call.value("lds_bank_conflict_cycles", uint64_t{0})),
         fmt::format("{:.1f}", row.counters.at("instructions_per_tile_slab").value("all", 0.0))});
  }
  table.print();
  fmt::print(
      "counts of one call, not time: wave-instructions by class; LDS cycles lost to bank "
      "conflicts; "
      "wave-instructions a 16 x 16 tile of the output and 128 k\n");
}

void print_bench_notes(const std::vector<lab::BenchRow>& rows) {
  int discarded = 0, incomplete = 0;
  for (const lab::BenchRow& row : rows) {
    discarded += row.discarded;
    incomplete += row.samples < lab::SamplingLimits::kFewest;
  }
  fmt::print("medians{}; spread: interquartile range over median; GB/s: packed weight bytes\n",
             !rows.empty() && rows.front().replayed ? " of replayed graphs" : "");
  // The last row of an instruction knows most of its peak.
  std::map<std::string, const lab::BenchRow*> peaks;
  for (const lab::BenchRow& row : rows) peaks[row.peak_instruction] = &row;
  for (const auto& [instruction, row] : peaks) {
    fmt::print("peak of {}: good {:.1f}, best {:.1f} GMAC/s\n", instruction, row->good_peak_gmacs,
               row->best_peak_gmacs);
  }
  fmt::print(
      "times that a guard fell below {:.0f} % of the good rate or another program took a core: "
      "{}\n",
      100 * lab::PeakGuard::kShare, discarded);
  if (incomplete > 0) {
    fmt::print("{} rows have fewer than {} samples: the machine was not ours often enough\n",
               incomplete, lab::SamplingLimits::kFewest);
  }
}

std::string us_text(double us) {
  if (std::isnan(us)) return "-";
  return us < 10     ? fmt::format("{:.2f}", us)
         : us < 1000 ? fmt::format("{:.1f}", us)
                     : fmt::format("{:.0f}", us);
}

std::string rate_text(double rate) { return std::isnan(rate) ? "-" : fmt::format("{:.1f}", rate); }

std::string percent_text(double fraction) {
  return std::isnan(fraction) ? "-" : fmt::format("{:.1f} %", 100 * fraction);
}

}  // namespace radiance::cli
