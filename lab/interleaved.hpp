// The timing loop: contestants and a streaming read in turn, each sample guarded.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "lab/peak_guard.hpp"
#include "linear/linear.hpp"

namespace radiance::lab {

enum class Scope { kGemm, kOp };  // the product alone, or with the quantization

// One thing that is timed. What it works on it has in copies that take turns.
struct Contestant {
  std::string name;                        // for errors
  std::function<void(StreamHandle)> call;  // one call, on the next copy
  std::function<void(StreamHandle)> read;  // a streaming read of the next copy; empty: no probe
  int copies = 0;
  size_t read_bytes = 0;       // of one read
  PeakGuard* guard = nullptr;  // of its own instructions; null: none
};

// What was measured of a contestant: one entry a sample that counted.
struct Samples {
  std::vector<double> us;          // a call
  std::vector<double> probe_gbps;  // of the streaming read, 10^9 bytes a second
  std::vector<double> peak_gmacs;  // of the guard behind it, or of one behind all samples
  int calls_per_sample = 0;
  // From a device that counts instead of taking time (Device::take_counters): what one call did,
  // and no samples.
  std::optional<std::string> counters;
};

struct Measurement {
  std::vector<Samples> contestants;  // as given; equally many samples each
  int discarded = 0;                 // guards that refused and samples that were cut
  bool replayed = false;             // recorded calls, not calls of the host, were timed
};

struct SamplingLimits {
  int samples = 15;
  // Stop after this long with at least kFewest samples, after twice as long with what there is.
  double seconds = 20;
  static constexpr int kFewest = 5;
};

// A sample of a contestant is: guard; calls on consecutive copies of its weight (one call, or as
// many as fill kSampleUs); guard; a streaming read of as many further copies, none of which the
// calls touched. The first guard is tried again after a pause until it passes. If the second
// refuses, or on cpu another program took a core meanwhile, the whole round of all contestants is
// discarded: what is compared was measured in the same moments.
//
// A device that records work (Device::capture) replays it: lab/replayed.hpp.
Measurement measure_interleaved(const Engine& engine, const std::vector<Contestant>& contestants,
                                const SamplingLimits& limits);

}  // namespace radiance::lab
