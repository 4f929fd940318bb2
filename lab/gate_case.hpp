// One case of the gate: launch on the device, read back, judge.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "lab/checker.hpp"
#include "lab/gate.hpp"
#include "lab/inputs.hpp"
#include "lab/reference.hpp"
#include "linear/linear.hpp"

namespace radiance::lab {

// A weight and rows of activations with what the device must make of them. Cases that differ in
// rows, types or configuration share one problem, and so one fp64 product.
struct Problem {
  Problem(Random& random, HostWeight host_weight, HostRows host_rows);

  HostWeight weight;
  HostRows rows;
  QuantizedRows quantized;
  Reference reference;
  radiance_dtype bias_dtype = RADIANCE_BF16;
  std::vector<uint8_t> bias;  // [n] of bias_dtype, for the cases that add it
};

// A problem's weight, packed on a device.
class DeviceWeight {
 public:
  DeviceWeight(const Engine& engine, const HostWeight& weight)
      : engine_(&engine),
        packed_(engine.pack(weight.desc())),
        linear_(engine, packed_.get(), packed_.bytes()) {}

  const Engine& engine() const { return *engine_; }
  const Linear& linear() const { return linear_; }

 private:
  const Engine* engine_;
  Buffer packed_;
  Linear linear_;
};

// One way to run a problem.
struct Variation {
  std::string suite, name;
  int64_t m = 0;
  int64_t first_row = 0;  // rows first_row..first_row+m-1 of the problem
  // The configurations to choose from: the first legal one that begins so, or the ablation of this
  // name. "": the policy's own.
  std::string config_prefix;
  // Where no configuration begins so, the policy's may run, and the result's note says so;
  // otherwise the case fails.
  bool may_fall_back = false;
  radiance_dtype out_dtype = RADIANCE_BF16;
  bool bias = false;
  int64_t ldy = 0;       // 0 = n
  bool forward = false;  // the whole operation, not the product alone
  bool exact = false;    // as Expectation::exact
};

// The legal configuration or ablation with this name, or else the first configuration with this
// prefix; nothing if there is none.
std::optional<std::string> find_config(const Backend& backend, const WeightShape& shape, int64_t m,
                                       const std::string& prefix);

// What a launch left behind.
struct Launch {
  std::string config;
  OutputLayout layout;
  std::vector<uint8_t> image;  // of the output, as OutputLayout says
  std::string failure;         // "" unless something besides the output's values is wrong
};

// Quantizes the rows on the device and compares xq, s_m and the row sums with the host's bit for
// bit; runs the product twice into a poisoned output with guarded buffers and compares the two
// outputs bit for bit. Throws Error if the device refuses, or if there is no such configuration.
Launch launch(const DeviceWeight& weight, const Problem& problem, const Variation& variation);

// The case's description, passed so far.
CaseResult case_of(const Problem& problem, const Variation& variation, const std::string& config);

// Judges a launch against fp64.
CaseResult judge(const Problem& problem, const Variation& variation, const Launch& launched,
                 const std::string& target);

// launch and judge; an Error becomes a failed case.
CaseResult run_case(const DeviceWeight& weight, const Problem& problem, const Variation& variation);

}  // namespace radiance::lab
