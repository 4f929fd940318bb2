// Tells the moments in which the machine is ours from those in which it is not.
#pragma once

#include <algorithm>
#include <string>

#include "kernels/backend.hpp"

namespace radiance::lab {

// Two virtual cores may share a physical one for seconds at a time, and other programs come and go.
// A short register-only loop on every thread shows it: its rate falls below the best of the run.
class PeakGuard {
 public:
  static constexpr double kShare = 0.85;  // of the best rate, to count as undisturbed
  static constexpr double kSeconds = 0.002;

  // Looks for the best rate first, for a few tenths of a second.
  explicit PeakGuard(Backend& backend) : backend_(&backend) {
    for (int i = 0; i < 8; ++i) probe(0.02);
  }

  // Probes once: whether the rate is near the best of the run. The best may still rise.
  bool pass() {
    last_gmacs_ = probe(kSeconds);
    return last_gmacs_ >= kShare * best_gmacs_;
  }

  double last_gmacs() const { return last_gmacs_; }  // of the last pass(), 10^9 MAC a second
  double best_gmacs() const { return best_gmacs_; }
  const std::string& instruction() const { return instruction_; }

 private:
  double probe(double seconds) {
    const PeakProbe result = backend_->peak(seconds);
    instruction_ = result.instruction;
    const double gmacs = result.macs_per_second * 1e-9;
    best_gmacs_ = std::max(best_gmacs_, gmacs);
    return gmacs;
  }

  Backend* backend_;
  std::string instruction_;
  double last_gmacs_ = 0, best_gmacs_ = 0;
};

}  // namespace radiance::lab
