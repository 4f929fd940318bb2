#include "lab/gate.hpp"

#include <gtest/gtest.h>

#include <map>

#include "radiance/error.hpp"

namespace radiance::lab {
namespace {

GateOptions options_for(std::vector<std::string> suites) {
  GateOptions options;
  options.device = "cpu";
  options.device_options.threads = 2;
  options.seed = 41;
  options.suites = std::move(suites);
  options.fuzz_cases = 40;
  return options;
}

TEST(Gate, SmallSuitesPassAndAreCounted) {
  std::map<std::string, int> cases;
  GateEvents events;
  events.on_case = [&](const CaseResult& result) {
    ++cases[result.suite];
    EXPECT_NE(result.status, Status::kFailed)
        << result.suite << " " << result.name << ": " << result.reason;
  };
  Gate gate(options_for({"table", "unpack", "perm", "onehot", "cancel", "prefill", "fuzz"}),
            events);
  gate.run();
  EXPECT_EQ(cases["prefill"], 27);
  EXPECT_EQ(cases["fuzz"], 40);
  EXPECT_EQ(cases["perm"], 1);
  EXPECT_EQ(gate.count(Status::kSkipped), 1);
  EXPECT_EQ(gate.count(Status::kFailed), 0);
  EXPECT_EQ(gate.count(Status::kPassed), static_cast<int64_t>(gate.results().size()) - 1);
}

TEST(Gate, JsonHasTheNamesThatProgramsRead) {
  Gate gate(options_for({"table", "perm"}), {});
  gate.run();
  const nlohmann::json report = gate.to_json();
  EXPECT_EQ(report.at("passed"), 4);
  EXPECT_EQ(report.at("failed"), 0);
  EXPECT_EQ(report.at("skipped"), 1);
  ASSERT_EQ(report.at("cases").size(), 5u);
  for (const nlohmann::json& entry : report.at("cases")) {
    for (const char* field : {"suite", "name", "format", "config", "M", "N", "K", "group",
                              "out_dtype", "bias", "rel", "max_elem", "status"}) {
      EXPECT_TRUE(entry.contains(field)) << field;
    }
  }
  EXPECT_EQ(report.at("cases")[0].at("status"), "passed");
  EXPECT_EQ(report.at("cases")[4].at("status"), "skipped");
}

#if RADIANCE_HAVE_GFX1201
TEST(Gate, TheEmulatedCardHasItsOwnCases) {
  GateOptions options = options_for({"table", "onehot", "prefill", "order", "ablate"});
  options.device = "emu";
  options.device_options.strict = true;
  std::map<std::string, int> cases;
  std::map<std::string, int> ablations;
  GateEvents events;
  events.on_case = [&](const CaseResult& result) {
    ++cases[result.suite];
    EXPECT_NE(result.status, Status::kFailed)
        << result.suite << " " << result.name << " " << result.config << ": " << result.reason;
    if (result.suite == "ablate") ++ablations[result.config];
    // Fast kernels where they are asked for, and the name of what ran in their place elsewhere.
    if (result.suite == "onehot") {
      const bool odd = result.name.find("odd shape") != std::string::npos;
      EXPECT_EQ(result.config == "general", odd) << result.name << " " << result.config;
      EXPECT_EQ(result.note.empty(), !odd) << result.note;
    }
  };
  Gate gate(options, events);
  gate.run();
  EXPECT_EQ(cases["prefill"], 3 * 27) << "as planned, and both fold variants of the baseline";
  EXPECT_EQ(cases["onehot"], 24);
  for (int64_t m = 1; m <= 300; ++m) {
    const WeightShape shape{RADIANCE_AUTOROUND_INT4, 136, 512, 128};
    for (const Ablation& ablation : gate.engine().backend().ablations(shape, m)) {
      EXPECT_EQ(ablations[ablation.config], 1) << ablation.config;
    }
  }
  EXPECT_GT(ablations.size(), 20u);
  EXPECT_GT(cases["order"], 20);
  // What the emulator only assumes decides nothing.
  EXPECT_EQ(gate.count(Status::kSkipped), 2);
  const nlohmann::json report = gate.to_json();
  EXPECT_EQ(report.at("order_seed"), options.seed);
  EXPECT_EQ(report.at("strict"), true);
  EXPECT_GT(report.at("wall_s"), 0);
}
#endif

TEST(Gate, ASeedRepeatsTheCases) {
  std::vector<CaseResult> runs[2];
  for (auto& run : runs) {
    Gate gate(options_for({"fuzz"}), {});
    gate.run();
    run = gate.results();
  }
  ASSERT_EQ(runs[0].size(), runs[1].size());
  for (size_t i = 0; i < runs[0].size(); ++i) {
    EXPECT_EQ(runs[0][i].name, runs[1][i].name);
    EXPECT_EQ(runs[0][i].rel, runs[1][i].rel);
    EXPECT_EQ(runs[0][i].max_elem, runs[1][i].max_elem);
  }
}

TEST(Gate, FuzzMixesWholeSlabsWithOtherLengths) {
  Gate gate(options_for({"fuzz"}), {});
  gate.run();
  int whole = 0;
  for (const CaseResult& result : gate.results()) whole += result.k % 128 == 0;
  EXPECT_GE(whole, 20);
  EXPECT_LE(whole, 35);
}

TEST(Gate, RefusesWhatItDoesNotKnow) {
  EXPECT_THROW(Gate(options_for({"decoed"}), {}).run(), Error);
  EXPECT_THROW(Gate(options_for({"model"}), {}).run(), Error);
  GateOptions options = options_for({});
  options.model = "/nonexistent";
  EXPECT_THROW(Gate(options, {}).run(), Error);
}

}  // namespace
}  // namespace radiance::lab
