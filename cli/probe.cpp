// radiance probe: what the hardware does where its manual and the kernels need it to agree.
#include <fmt/format.h>

#include <memory>

#include "cli/command.hpp"
#include "cli/common.hpp"
#include "lab/perm_map.hpp"
#include "linear/linear.hpp"
#include "radiance/error.hpp"

namespace radiance::cli {

namespace {

using nlohmann::json;

struct Options {
  CommonOptions common;
  std::string what;
};

json run_perm(HardwareProbes& probes, uint64_t seed) {
  lab::Random random(seed);
  const lab::PermMap map = lab::probe_perm(probes, random);
  TextTable table({"selectors", "give", "by the manual"}, 3);
  json selectors = json::array();
  const auto same = [&](int a, int b) {
    return map.meaning[static_cast<size_t>(a)] == map.meaning[static_cast<size_t>(b)] &&
           lab::documented_perm(a) == lab::documented_perm(b);
  };
  for (int first = 0; first < 256;) {
    const lab::PermMeaning meaning = map.meaning[static_cast<size_t>(first)];
    const lab::PermMeaning documented = lab::documented_perm(first);
    int last = first;
    for (int next = first + 1; next < 256 && same(first, next); ++next) last = next;
    table.add({first == last ? std::to_string(first) : fmt::format("{}..{}", first, last),
               lab::describe(meaning), lab::describe(documented)});
    selectors.push_back({{"first", first},
                         {"last", last},
                         {"gives", lab::describe(meaning)},
                         {"documented", lab::describe(documented)},
                         {"agrees", meaning == documented}});
    first = last + 1;
  }
  table.print();
  fmt::print("4096 random words with four selectors each: {} differ from this map\n",
             map.wrong_words);
  return {{"selectors", selectors}, {"wrong_words", map.wrong_words}};
}

void run_probe(const Options& options, const CLI::App& app, int* exit_status) {
  const Engine engine(options.common.device, options.common.device_options());
  HardwareProbes* const probes = engine.backend().hardware_probes();
  if (probes == nullptr) {
    throw Error(RADIANCE_UNSUPPORTED,
                "v_perm_b32 is an instruction of gfx1201, and this device is " +
                    engine.device().info().arch);
  }
  const uint64_t seed = options.common.seed_or_clock();
  const json data = run_perm(*probes, seed);
  write_report(options.common, app, seed, &engine.device(), data);
  bool agrees = data.at("wrong_words") == 0;
  for (const json& selector : data.at("selectors")) {
    agrees = agrees && selector.at("agrees").get<bool>();
  }
  *exit_status = agrees ? 0 : 1;
}

}  // namespace

void add_probe(CLI::App& app, int* exit_status) {
  auto options = std::make_shared<Options>();
  CLI::App* probe = app.add_subcommand("probe", "what an instruction does, asked of the hardware");
  add_common_options(*probe, options->common, true);
  probe->add_option("what", options->what, "perm: the map of v_perm_b32's selectors")
      ->required()
      ->check(CLI::IsMember({"perm"}));
  probe->callback([options, probe, exit_status] { run_probe(*options, *probe, exit_status); });
}

}  // namespace radiance::cli
