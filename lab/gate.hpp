// The gate: suites of cases against fp64.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "lab/random.hpp"
#include "linear/linear.hpp"

namespace radiance::lab {

enum class Status { kPassed, kFailed, kSkipped };

struct CaseResult {
  std::string suite, name;
  radiance_format format = RADIANCE_AUTOROUND_INT4;
  std::string config;
  int64_t m = 0, n = 0, k = 0, group = 0;
  radiance_dtype out_dtype = RADIANCE_BF16;
  bool bias = false;
  double rel = 0;
  double max_elem = 0;  // the largest error over its bound
  Status status = Status::kPassed;
  std::string reason;  // of a failure or a skip
  std::string note;    // what else a reader should know
  // suite model: the share of groups with a negative scale; otherwise below 0
  double negative_scales = -1;
};

const char* status_name(Status status);

struct GateOptions {
  std::string device;  // as open_device takes it
  // On the emulator without an order_seed: `seed`, so that every launch has another order of
  // workgroups and waves, and the two launches of a case must agree in spite of it.
  DeviceOptions device_options;
  uint64_t seed = 0;
  std::vector<std::string> suites;  // in order; empty: all but model
  std::string model;                // a checkpoint's directory, for suite model
  bool every_layer = false;         // suite model: not only the first of each shape and scheme
  int fuzz_cases = 300;
};

// What a running gate tells: every case as it ends, and what it is about to do.
struct GateEvents {
  std::function<void(const CaseResult&)> on_case;
  std::function<void(const std::string&)> on_progress;
};

class Gate {
 public:
  Gate(const GateOptions& options, GateEvents events);

  // The suites' names, in the order in which they run.
  static std::vector<std::string> suite_names();

  // Runs the suites asked for. Throws Error for a suite that does not exist.
  void run();

  // ---- for the suites ----
  const Engine& engine() const { return engine_; }
  const GateOptions& options() const { return options_; }
  // cpu only: the same device with this many threads, kept for the run.
  const Engine& engine_with_threads(int threads);
  // The generator of a suite's index-th problem.
  Random random(const char* suite, uint64_t index = 0) const {
    return Random(derived_seed(options_.seed, suite, index));
  }
  void add(CaseResult result);
  void progress(const std::string& what) const;

  const std::vector<CaseResult>& results() const { return results_; }
  int64_t count(Status status) const;

  // `passed`, `failed`, `skipped` and `cases`; what run() took in `wall_s`, on how many `threads`;
  // on the emulator `strict` and `order_seed`.
  nlohmann::json to_json() const;

 private:
  GateOptions options_;
  GateEvents events_;
  Engine engine_;
  std::map<int, std::unique_ptr<Engine>> other_engines_;
  std::vector<CaseResult> results_;
  double wall_seconds_ = 0;
};

}  // namespace radiance::lab
