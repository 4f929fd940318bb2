// radiance devices: what is here, and what each can run.
#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <optional>

#include "cli/command.hpp"
#include "cli/common.hpp"
#include "kernels/backend.hpp"
#include "radiance/error.hpp"
#include "runtime/hip_driver.hpp"

namespace radiance::cli {

namespace {

// Accelerators of one kind are tried in order until one is not there.
constexpr int kMostDevices = 16;

struct Found {
  DeviceInfo info;
  std::vector<std::string> configs;  // what the policy chooses from, on a production shape
};

// The device and what runs on it; nothing, and *reason, if it is not here.
std::optional<Found> look(const std::string& name, std::string* reason) {
  try {
    const std::unique_ptr<Device> device = open_device(name);
    const std::unique_ptr<Backend> backend = make_backend(*device);
    Found found{device->info(), {}};
    const WeightShape shape{RADIANCE_AUTOROUND_INT4, 5120, 5120, 128};
    for (const int64_t m : {1, 512}) {
      for (const Plan& plan : backend->configs(shape, m)) {
        if (std::find(found.configs.begin(), found.configs.end(), plan.config) ==
            found.configs.end()) {
          found.configs.push_back(plan.config);
        }
      }
    }
    return found;
  } catch (const Error& error) {
    *reason = error.what();
    return std::nullopt;
  }
}

std::string bytes_text(uint64_t bytes) {
  if (bytes == 0) return "-";
  const double mib = static_cast<double>(bytes) / (1 << 20);
  return mib < 1024 ? fmt::format("{:.0f} MiB", mib) : fmt::format("{:.1f} GiB", mib / 1024);
}

void run_devices(const CommonOptions& options, bool names, const CLI::App& app) {
  TextTable table({"device", "arch", "hardware", "units", "memory", "last cache", "runs"}, 3);
  nlohmann::json rows = nlohmann::json::array();
  std::vector<std::string> absent;
  auto report = [&](const std::string& name) {
    std::string reason;
    const std::optional<Found> found = look(name, &reason);
    if (!found) {
      absent.push_back(fmt::format("{}: {}", name, reason));
      return false;
    }
    const DeviceInfo& info = found->info;
    table.add({name, info.arch, info.description, std::to_string(info.units),
               bytes_text(info.memory_bytes), bytes_text(info.last_cache_bytes),
               fmt::format("{}", fmt::join(found->configs, " "))});
    rows.push_back({{"name", name},
                    {"arch", info.arch},
                    {"description", info.description},
                    {"units", info.units},
                    {"memory_bytes", info.memory_bytes},
                    {"last_cache_bytes", info.last_cache_bytes},
                    {"formats", {"autoround", "mxfp4"}},
                    {"configs", found->configs}});
    return true;
  };
  for (const char* name : {"cpu:amx", "cpu:avx512", "cpu:avx2", "cpu:portable"}) report(name);
  for (const char* kind : {"hip:", "cuda:"}) {
    for (int i = 0; i < kMostDevices && report(kind + std::to_string(i)); ++i) {
    }
  }
  // After hip: once the emulator is loaded, the loader finds it under ROCm's name.
  report("emu");
  // A device past the last of its kind is not missing.
  std::erase_if(absent, [](const std::string& line) {
    return (line.rfind("hip:", 0) == 0 || line.rfind("cuda:", 0) == 0) &&
           line.find(":0:") == std::string::npos;
  });

  if (names) {
    for (const nlohmann::json& row : rows) fmt::print("{}\n", row.at("name").get<std::string>());
    return;
  }
  const std::unique_ptr<Device> best = open_device("");
  table.print();
  for (const std::string& line : absent) fmt::print("not here: {}\n", line);
  fmt::print("default: {} ({})\n", best->info().name, best->info().arch);
  write_report(options, app, 0, best.get(),
               {{"devices", rows}, {"absent", absent}, {"default", best->info().name}});
}

// What the emulator can execute, from its own tables.
void print_emulator() {
  const hip::Driver& emulator = hip::emulator();
  fmt::print("{}\n{}", emulator.version_text(), emulator.emulator.supported());
}

}  // namespace

void add_devices(CLI::App& app, int*) {
  auto options = std::make_shared<CommonOptions>();
  auto emulator = std::make_shared<bool>(false);
  auto names = std::make_shared<bool>(false);
  CLI::App* devices = app.add_subcommand("devices", "what is here and what each can run");
  devices->add_option("--json", options->json, "write the results to this file");
  devices->add_flag("--names", *names, "only the names that --device takes, a line each");
  devices->add_flag("--emulator", *emulator, "the instructions that the gfx1201 emulator executes");
  devices->callback([options, names, emulator, devices] {
    if (*emulator) {
      print_emulator();
    } else {
      run_devices(*options, *names, *devices);
    }
  });
}

}  // namespace radiance::cli
