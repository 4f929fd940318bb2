// What one row of bench, compare, sweep and ablate is made of.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "lab/bench.hpp"
#include "lab/interleaved.hpp"
#include "lab/peak_guard.hpp"
#include "lab/rotation.hpp"

namespace radiance::lab {

// A weight of one format on the device, in copies; in one copy on a device that counts.
std::unique_ptr<WeightRotation> bench_weights(const Engine& engine, const BenchOptions& options,
                                              radiance_format format, const BenchShape& shape);

// Not on a device that counts.
PeakGuards bench_guards(const Engine& engine);

// Rows enough for the largest M of the options.
HostRows bench_rows(const BenchOptions& options, int64_t k);

// One contestant with everything it needs; not movable, for calls borrows config.
struct BenchEntry {
  // wanted_config: a configuration's name or its beginning; "" = the policy's. Throws Error with
  // the legal ones if none begins so.
  BenchEntry(const Engine& engine, const BenchOptions& options, PeakGuards& guards,
             WeightRotation& weight_rotation, const HostRows& rows, int64_t m, Scope call_scope,
             const std::string& wanted_config);
  BenchEntry(const BenchEntry&) = delete;
  BenchEntry& operator=(const BenchEntry&) = delete;

  // Borrows this.
  Contestant contestant();

  Backend* backend;
  WeightRotation* weights;
  std::string config;
  CallRotation calls;
  Scope scope;
  PeakGuard* guard;
};

BenchRow bench_row(const Engine& engine, const BenchShape& shape, int64_t m,
                   const BenchEntry& entry, const Measurement& measurement, const Samples& samples);

// a's times over b's, round by round.
std::vector<double> ratios_of(const Samples& a, const Samples& b);

// The median and the spread of a's times over b's of the same rounds, into `row`.
void set_ratio(const Samples& a, const Samples& b, BenchRow& row);

}  // namespace radiance::lab
