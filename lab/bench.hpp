// bench and compare: how long calls take, beside what the machine could do in the same moments.
#pragma once

#include <cstdint>
#include <functional>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "lab/interleaved.hpp"
#include "lab/roofline.hpp"
#include "linear/linear.hpp"

namespace radiance::lab {

struct BenchShape {
  std::string name;  // "gate_up", or NxK
  int64_t n = 0, k = 0;
};

// "gate_up", "down", "out", or "NxK". Throws Error for anything else.
BenchShape bench_shape(const std::string& text);

struct BenchOptions {
  uint64_t seed = 0;
  std::vector<BenchShape> shapes;
  std::vector<int64_t> rows;
  std::vector<radiance_format> formats;
  std::vector<Scope> scopes;
  int64_t group = 128;  // of the int4 weights
  int copies = 0;       // of each weight; 0 = past twice the last-level cache
  std::string config;   // a configuration's name or its beginning; "" = the policy's
  radiance_dtype y_dtype = RADIANCE_BF16;
  bool rivals = false;  // bench: time cuBLASLt's products in the same loop
  SamplingLimits limits;
};

// A rival's product of the same shape and rows, timed in the row's loop.
struct RivalResult {
  std::string name;
  double us = 0, us_spread = 0;
  double tflops = 0;
  int candidates = 0;  // algorithms that it was the fastest of
  int64_t rows = 0;    // M, or what it was padded to
  // The row's us over the rival's of the same round, the median.
  double ratio = 0, ratio_spread = 0;
};

struct BenchRow {
  radiance_format format = RADIANCE_AUTOROUND_INT4;
  std::string config;
  BenchShape shape;
  int64_t m = 0, group = 0;
  Scope scope = Scope::kGemm;
  int threads = 0;
  int samples = 0, discarded = 0, calls_per_sample = 0;
  bool replayed = false;  // a recorded graph was timed, without launches from the host
  size_t working_set_bytes = 0, packed_bytes = 0;
  // Medians over the samples; NaN without any. Spreads are interquartile range over median.
  double us = 0, us_spread = 0;
  double gbps = 0;  // packed weight bytes over us: activations and outputs do not count
  double probe_gbps = 0, probe_spread = 0;
  double peak_gmacs = 0;                            // of the guards beside the samples
  double good_peak_gmacs = 0, best_peak_gmacs = 0;  // of the run so far, as PeakGuard says
  std::string peak_instruction;
  // us over another row's us of the same round, the median; NaN where there is none. compare: the
  // other format's row; sweep and ablate: that of `ratio_to`.
  double ratio = 0, ratio_spread = 0;
  // What one call did, from a device that counts (then nothing above is timed); else null.
  nlohmann::json counters;
  std::string ratio_to;
  std::vector<RivalResult> rivals;

  double fraction() const { return gbps / probe_gbps; }
  double tflops() const;
  double bits_per_weight() const;
  Roofline roof() const;
  double roofline_fraction() const { return roof().us() / us; }
};

const char* scope_name(Scope scope);

struct BenchEvents {
  std::function<void(const BenchRow&)> on_row;
  std::function<void(const std::string&)> on_progress;
};

// A row for each format, shape, number of rows and scope; where work is replayed, both scopes are
// timed in one loop. Throws Error if there are to be rivals and cannot be.
std::vector<BenchRow> run_bench(const Engine& engine, const BenchOptions& options,
                                const BenchEvents& events);

// AutoRound and MXFP4 in one loop, each through its policy (options.config and formats are not
// used): two rows, AutoRound's first, for each shape, number of rows and scope.
std::vector<BenchRow> run_compare(const Engine& engine, const BenchOptions& options,
                                  const BenchEvents& events);

// `rows`.
nlohmann::json to_json(const std::vector<BenchRow>& rows);

}  // namespace radiance::lab
