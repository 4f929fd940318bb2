// Measures our cpu library beside ggml and oneDNN in one loop of one process. run.sh starts it.
#include <fmt/format.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <stdexcept>

#include "draw.hpp"
#include "lab/commit.hpp"
#include "lab/statistics.hpp"
#include "measure.hpp"
#include "radiance/radiance.hpp"

namespace rivals {

namespace {

using nlohmann::json;
using radiance::lab::median;
using radiance::lab::spread;

struct Options {
  std::string json_file, device = "cpu", command;
  std::vector<std::string> shapes = {"gate_up", "down", "out"}, only;
  std::vector<int64_t> rows = {1, 2, 4, 8, 16, 64, 512};
  Limits limits;
  int threads = 2;
  double memory_gb = 8, guard = 0.85;
  uint64_t seed = 1;
};

struct Shape {
  std::string name;
  int64_t n = 0, k = 0;
};

Shape parse_shape(const std::string& text) {
  if (text == "gate_up") return {text, 17408, 5120};
  if (text == "down") return {text, 5120, 8704};
  if (text == "out") return {text, 5120, 5120};
  Shape shape{text, 0, 0};
  const char* end = text.data() + text.size();
  const auto [times, error] = std::from_chars(text.data(), end, shape.n);
  if (error != std::errc() || times == end || *times != 'x' ||
      std::from_chars(times + 1, end, shape.k).ptr != end || shape.n <= 0 || shape.k <= 0) {
    throw std::runtime_error("a shape is gate_up, down, out or NxK, not " + text);
  }
  return shape;
}

// Normal values, each row of another size.
std::vector<uint16_t> draw_rows(uint64_t seed, int64_t m, int64_t k) {
  Random random(seed);
  std::vector<uint16_t> rows;
  for (int64_t row = 0; row < m; ++row) {
    const float size = std::exp2(static_cast<float>(row % 5) - 2.0f);
    for (int64_t i = 0; i < k; ++i) rows.push_back(radiance::f32_to_bf16(size * random.normal()));
  }
  return rows;
}

size_t available_bytes() {
  std::ifstream file("/proc/meminfo");
  for (std::string key; file >> key;) {
    if (key == "MemAvailable:") {
      size_t kilobytes = 0;
      file >> kilobytes;
      return kilobytes * 1024;
    }
    std::getline(file, key);
  }
  return size_t{4} << 30;
}

json make_row(const Options& options, const std::string& arch, const Shape& shape, int64_t m,
              const Contestant& contestant, const Samples& samples, const Measurement& measurement,
              double error) {
  const double us = median(samples.us), probe = median(measurement.probe_gbps);
  const auto bytes = static_cast<double>(contestant.weight_bytes());
  const double weights = static_cast<double>(shape.n) * static_cast<double>(shape.k);
  const double gbps = bytes / us * 1e-3;
  return {
      {"contestant", contestant.name()},
      {"format", contestant.format()},
      {"config", contestant.config()},
      {"arch", arch},
      {"shape", shape.name},
      {"M", m},
      {"N", shape.n},
      {"K", shape.k},
      {"scope", contestant.scope()},
      {"threads", options.threads},
      {"samples", samples.us.size()},
      {"discarded", samples.discarded},
      {"calls_per_sample", samples.calls},
      {"working_set_bytes", contestant.weight_bytes() * static_cast<size_t>(contestant.copies())},
      {"packed_bytes", contestant.weight_bytes()},
      {"bits_per_weight", 8 * bytes / weights},
      {"us", us},
      {"us_spread", spread(samples.us)},
      {"gbps", gbps},
      {"probe_gbps", probe},
      {"probe_spread", spread(measurement.probe_gbps)},
      {"fraction", gbps / probe},
      {"tflops", 2 * static_cast<double>(m) * weights / us * 1e-6},
      {"guard", median(measurement.guard)},
      {"ratio_to_radiance", median(samples.ratio)},
      {"ratio_spread", spread(samples.ratio)},
      {"relative_error", error}};
}

void print_row(const json& row) {
  fmt::print(
      "{:>7} {:>8} {:>4} {:<12} {:<24} {:>9.0f} {:>5.1f}% {:>6.2f} {:>6.1f} {:>5.0f}% {:>8.1f} "
      "{:>8.4f}  {}\n",
      row["arch"].get<std::string>(), row["shape"].get<std::string>(), row["M"].get<int64_t>(),
      row["contestant"].get<std::string>(), row["format"].get<std::string>(),
      row["us"].get<double>(), 100 * row["us_spread"].get<double>(),
      row["ratio_to_radiance"].get<double>(), row["gbps"].get<double>(),
      100 * row["fraction"].get<double>(), 1000 * row["tflops"].get<double>(),
      row["relative_error"].get<double>(), row["config"].get<std::string>());
  std::fflush(stdout);
}

// The file as an earlier process of the same run left it, or its header.
json start_report(const Options& options, const std::string& device, const std::string& arch) {
  json report;
  std::ifstream file(options.json_file);
  if (!options.json_file.empty() && file) {
    report = json::parse(file);
  } else {
    utsname system{};
    uname(&system);
    report = {{"schema", 1},
              {"commit", RADIANCE_COMMIT},
              {"compiler", std::string("gcc ") + __VERSION__},
              {"driver", std::string(system.sysname) + " " + system.release},
              {"device", device},
              {"arch", arch},
              {"command", options.command},
              {"seed", options.seed},
              {"processes", json::array()},
              {"rows", json::array()}};
  }
  const auto variable = [](const char* name) -> json {
    const char* value = std::getenv(name);
    return value == nullptr ? json() : json(value);
  };
  report["processes"].push_back({{"arch", arch},
                                 {"ggml", ggml_description()},
                                 {"onednn", onednn_description()},
                                 {"ONEDNN_MAX_CPU_ISA", variable("ONEDNN_MAX_CPU_ISA")},
                                 {"GOMP_SPINCOUNT", variable("GOMP_SPINCOUNT")},
                                 {"GLIBC_TUNABLES", variable("GLIBC_TUNABLES")}});
  return report;
}

void write_report(const std::string& path, const json& report) {
  const std::string temporary = path + ".tmp";
  std::ofstream file(temporary);
  file << report.dump(1) << '\n';
  file.close();
  if (!file) throw std::runtime_error("cannot write " + temporary);
  std::filesystem::rename(temporary, path);
}

int run(const Options& options) {
  const radiance::api::Device device(options.device.c_str(), options.threads);
  const radiance_device_info info = device.info();
  const std::string arch = info.arch;
  json report = start_report(options, info.description, arch);
  const json& process = report["processes"].back();
  fmt::print("{}, {} threads, radiance {}\nggml {}\nonednn {}\n\n", info.description,
             options.threads, arch, process["ggml"].get<std::string>(),
             process["onednn"].get<std::string>());
  fmt::print("{:>7} {:>8} {:>4} {:<12} {:<24} {:>9} {:>6} {:>6} {:>6} {:>6} {:>8} {:>8}  {}\n",
             "arch", "shape", "M", "contestant", "weights", "us", "spread", "ratio", "GB/s",
             "stream", "GFLOP/s", "error", "path");

  Guard guard(options.threads, options.guard);
  HomeThread homes[3];
  int refused = 0;
  for (const std::string& text : options.shapes) {
    const Shape shape = parse_shape(text);
    const int64_t most = *std::max_element(options.rows.begin(), options.rows.end());
    const std::vector<uint16_t> x = draw_rows(options.seed, most, shape.k);
    Problem problem{shape.n, shape.k, options.threads, options.seed, &x, 0, 0, options.only};
    constexpr size_t kContestants = 8;  // with the stream
    problem.copies_floor = 2 * info.last_cache_bytes;
    problem.copies_limit =
        std::min(static_cast<size_t>(options.memory_gb * 1e9), available_bytes() / 2) /
        kContestants;
    std::vector<Entry> all;
    const auto add = [&](HomeThread& home, const auto& make) {
      for (auto& made : home.call(make)) all.push_back({&home, std::move(made)});
    };
    add(homes[0], [&] { return make_radiance(problem, options.device); });
    add(homes[1], [&] { return make_ggml(problem); });
    add(homes[2], [&] { return make_onednn(problem); });
    const size_t bytes = all.front().contestant->weight_bytes();
    Stream stream(options.threads, bytes, problem.copies(bytes));
    for (const int64_t m : options.rows) {
      std::vector<const Entry*> sound;
      std::vector<double> errors;
      for (const Entry& entry : all) {
        entry.home->call([&] { entry.contestant->prepare(m); });
        const double error = check(entry, problem, m);
        if (error <= kTolerance) {
          sound.push_back(&entry);
          errors.push_back(error);
          continue;
        }
        ++refused;
        fmt::print("{} {} M={} {}: relative error {}, not timed\n", arch, shape.name, m,
                   entry.contestant->name(), error);
        if (&entry == &all.front()) throw std::runtime_error("our own result is wrong");
      }
      const Measurement measurement = measure(sound, stream, guard, options.limits);
      for (size_t i = 0; i < sound.size(); ++i) {
        const Samples& samples = measurement.contestants[i];
        if (samples.us.empty() || measurement.probe_gbps.empty()) {
          ++refused;
          fmt::print("{} {} M={} {}: no undisturbed sample\n", arch, shape.name, m,
                     sound[i]->contestant->name());
          continue;
        }
        report["rows"].push_back(make_row(options, arch, shape, m, *sound[i]->contestant, samples,
                                          measurement, errors[i]));
        print_row(report["rows"].back());
      }
      if (!options.json_file.empty()) write_report(options.json_file, report);
    }
    for (Entry& entry : all) entry.home->call([&] { entry.contestant.reset(); });
  }
  return refused == 0 ? 0 : 1;
}

}  // namespace

}  // namespace rivals

int main(int argc, char** argv) {
  rivals::Options options;
  CLI::App app("our cpu library beside ggml and oneDNN");
  app.add_option("--json", options.json_file, "the result; rows are added if it exists");
  app.add_option("--device", options.device, "cpu, cpu:amx, cpu:avx512, ...");
  app.add_option("--shapes", options.shapes, "gate_up, down, out or NxK")->delimiter(',');
  app.add_option("--m", options.rows, "rows of activations")
      ->delimiter(',')
      ->check(CLI::PositiveNumber);
  app.add_option("--only", options.only, "rivals whose name holds one of these")->delimiter(',');
  app.add_option("--samples", options.limits.samples)->check(CLI::PositiveNumber);
  app.add_option("--seconds", options.limits.seconds, "for a shape and M, then fewer samples do");
  app.add_option("--threads", options.threads)->check(CLI::PositiveNumber);
  app.add_option("--memory", options.memory_gb, "GB that all weights may take");
  app.add_option("--guard", options.guard, "share of the best guard rate below which samples drop");
  app.add_option("--seed", options.seed);
  app.add_option("--command", options.command, "for the result's header");
  CLI11_PARSE(app, argc, argv);
  try {
    return rivals::run(options);
  } catch (const std::exception& error) {
    fmt::print(stderr, "rivals: {}\n", error.what());
    return 2;
  }
}
