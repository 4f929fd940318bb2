#include "lab/gate.hpp"

#include <algorithm>
#include <chrono>
#include <thread>

#include "lab/elements.hpp"
#include "lab/suites/suites.hpp"
#include "radiance/error.hpp"

namespace radiance::lab {

namespace {

struct Suite {
  const char* name;
  void (*run)(Gate&);
};

// From what isolates one weight to what runs everything at once: the first failure is the one to
// look at.
constexpr Suite kSuites[] = {
    {"table", run_table_suite},     {"unpack", run_unpack_suite}, {"perm", run_perm_suite},
    {"onehot", run_onehot_suite},   {"cancel", run_cancel_suite}, {"decode", run_decode_suite},
    {"prefill", run_prefill_suite}, {"cross", run_cross_suite},   {"mxfp4", run_mxfp4_suite},
    {"configs", run_configs_suite}, {"order", run_order_suite},   {"ablate", run_ablate_suite},
    {"fuzz", run_fuzz_suite},       {"model", run_model_suite},
};

}  // namespace

const char* status_name(Status status) {
  switch (status) {
    case Status::kPassed:
      return "passed";
    case Status::kFailed:
      return "failed";
    case Status::kSkipped:
      break;
  }
  return "skipped";
}

static GateOptions with_order(GateOptions options) {
  std::optional<uint64_t>& order = options.device_options.order_seed;
  if (options.device == "emu" && !order) order = options.seed;
  return options;
}

Gate::Gate(const GateOptions& options, GateEvents events)
    : options_(with_order(options)),
      events_(std::move(events)),
      engine_(options_.device, options_.device_options) {}

std::vector<std::string> Gate::suite_names() {
  std::vector<std::string> names;
  for (const Suite& suite : kSuites) names.emplace_back(suite.name);
  return names;
}

void Gate::run() {
  std::vector<std::string> wanted = options_.suites;
  if (wanted.empty() && options_.model.empty()) {
    wanted = suite_names();
    wanted.pop_back();  // model
  }
  if (!options_.model.empty() && std::find(wanted.begin(), wanted.end(), "model") == wanted.end()) {
    wanted.emplace_back("model");
  }
  for (const std::string& name : wanted) {
    if (std::none_of(std::begin(kSuites), std::end(kSuites),
                     [&](const Suite& suite) { return suite.name == name; })) {
      throw Error(RADIANCE_INVALID_ARGUMENT, "there is no gate suite named " + name);
    }
  }
  if (std::find(wanted.begin(), wanted.end(), "model") != wanted.end() && options_.model.empty()) {
    throw Error(RADIANCE_INVALID_ARGUMENT, "suite model needs a checkpoint: --model DIR");
  }
  const auto begin = std::chrono::steady_clock::now();
  for (const Suite& suite : kSuites) {
    if (std::find(wanted.begin(), wanted.end(), suite.name) == wanted.end()) continue;
    progress(suite.name);
    suite.run(*this);
  }
  wall_seconds_ += std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

const Engine& Gate::engine_with_threads(int threads) {
  std::unique_ptr<Engine>& engine = other_engines_[threads];
  if (!engine) {
    DeviceOptions device_options = options_.device_options;
    device_options.threads = threads;
    engine = std::make_unique<Engine>(options_.device, device_options);
  }
  return *engine;
}

void Gate::add(CaseResult result) {
  results_.push_back(std::move(result));
  if (events_.on_case) events_.on_case(results_.back());
}

void Gate::progress(const std::string& what) const {
  if (events_.on_progress) events_.on_progress(what);
}

int64_t Gate::count(Status status) const {
  return std::count_if(results_.begin(), results_.end(),
                       [&](const CaseResult& result) { return result.status == status; });
}

nlohmann::json Gate::to_json() const {
  nlohmann::json cases = nlohmann::json::array();
  for (const CaseResult& result : results_) {
    nlohmann::json entry = {{"suite", result.suite},
                            {"name", result.name},
                            {"format", format_name(result.format)},
                            {"config", result.config},
                            {"M", result.m},
                            {"N", result.n},
                            {"K", result.k},
                            {"group", result.group},
                            {"out_dtype", dtype_name(result.out_dtype)},
                            {"bias", result.bias},
                            {"rel", result.rel},
                            {"max_elem", result.max_elem},
                            {"status", status_name(result.status)}};
    if (!result.reason.empty()) entry["reason"] = result.reason;
    if (!result.note.empty()) entry["note"] = result.note;
    if (result.negative_scales >= 0) entry["negative_scales"] = result.negative_scales;
    cases.push_back(std::move(entry));
  }
  nlohmann::json report = {{"passed", count(Status::kPassed)},
                           {"failed", count(Status::kFailed)},
                           {"skipped", count(Status::kSkipped)},
                           {"wall_s", wall_seconds_},
                           {"threads", options_.device_options.threads > 0
                                           ? options_.device_options.threads
                                           : static_cast<int>(std::thread::hardware_concurrency())},
                           {"cases", std::move(cases)}};
  if (options_.device == "emu") {
    report["strict"] = options_.device_options.strict;
    report["order_seed"] = nullptr;
    if (const auto& seed = options_.device_options.order_seed) report["order_seed"] = *seed;
  }
  return report;
}

}  // namespace radiance::lab
