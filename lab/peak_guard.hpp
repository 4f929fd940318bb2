// Tells the moments in which the machine is ours from those in which it is not.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "kernels/backend.hpp"

namespace radiance::lab {

// Two virtual cores may share a physical one for seconds at a time, and other programs come and go.
// A short register-only loop on every thread shows it: its rate falls below what the run has seen.
class PeakGuard {
 public:
  static constexpr double kShare = 0.85;  // of the good rate, to count as undisturbed
  static constexpr double kSeconds = 0.002;
  // The good rate is this quantile of the latest probes: their maximum is a moment of turbo that
  // may not come again, and would refuse everything after it.
  static constexpr double kGoodQuantile = 0.95;
  static constexpr size_t kRemembered = 1000;

  static constexpr int kFirstProbes = 100;  // two tenths of a second
  static constexpr int kFewProbes = 5;      // where a guard refuses nothing: measure_replayed

  // Guards samples of a configuration by its own instruction. Looks for the good rate first; not on
  // a device that has no time (0 probes).
  PeakGuard(Backend& backend, std::string config, int first_probes = kFirstProbes);

  // Probes once: whether the rate is near the good one.
  bool pass();

  double last_gmacs() const { return last_gmacs_; }  // of the last pass(), 10^9 MAC a second
  double good_gmacs() const { return good_gmacs_; }
  double best_gmacs() const { return best_gmacs_; }
  const std::string& instruction() const { return instruction_; }

 private:
  void probe(double seconds);

  Backend* backend_;
  std::string config_;
  std::string instruction_;
  std::vector<double> latest_;
  size_t next_ = 0;
  double last_gmacs_ = 0, good_gmacs_ = 0, best_gmacs_ = 0;
};

// A guard for each configuration that a run meets.
class PeakGuards {
 public:
  PeakGuards(Backend& backend, int first_probes)
      : backend_(&backend), first_probes_(first_probes) {}
  PeakGuard& of(const std::string& config) {
    return guards_.try_emplace(config, *backend_, config, first_probes_).first->second;
  }

 private:
  Backend* backend_;
  int first_probes_;
  std::map<std::string, PeakGuard> guards_;
};

}  // namespace radiance::lab
