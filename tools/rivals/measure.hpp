// The check and the timing loop.
#pragma once

#include "contestant.hpp"
#include "home_thread.hpp"
#include "probes.hpp"

namespace rivals {

// A contestant and where it is called from; it is made and destroyed there too.
struct Entry {
  HomeThread* home = nullptr;
  std::unique_ptr<Contestant> contestant;
};

// The relative Frobenius error of a call of m rows against double precision from the weights as
// they were given and x as it was given, over some rows and columns. NaN if an output is not
// finite.
double check(const Entry& entry, const Problem& problem, int64_t m);

// Loose: four-bit formats with eight-bit activations, rounded to e4m3, stay below 0.04.
inline constexpr double kTolerance = 0.05;

struct Samples {
  std::vector<double> us;     // a call
  std::vector<double> ratio;  // to the first contestant's of the same round
  int calls = 0;              // a sample
  int discarded = 0;          // samples that a guard refused
};

struct Measurement {
  std::vector<Samples> contestants;
  std::vector<double> probe_gbps;  // of the streaming read, one a round
  std::vector<double> guard;       // of the samples that counted, over the best
};

struct Limits {
  int samples = 15;
  double seconds = 90;  // stop after this long with at least kFewest rounds
  static constexpr int kFewest = 5;
  static constexpr int kAttempts = 8;  // at a sample; then its round goes without it
};

// Rounds in which everybody takes a turn: settle; guard; calls on consecutive copies; guard.
Measurement measure(const std::vector<const Entry*>& contestants, Stream& stream, Guard& guard,
                    const Limits& limits);

}  // namespace rivals
