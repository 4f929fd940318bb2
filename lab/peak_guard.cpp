#include "lab/peak_guard.hpp"

#include <algorithm>
#include <utility>

namespace radiance::lab {

PeakGuard::PeakGuard(Backend& backend, std::string config, int first_probes)
    : backend_(&backend), config_(std::move(config)) {
  for (int i = 0; i < first_probes; ++i) probe(kSeconds);
}

bool PeakGuard::pass() {
  probe(kSeconds);
  return last_gmacs_ >= kShare * good_gmacs_;
}

void PeakGuard::probe(double seconds) {
  const PeakProbe result = backend_->peak(config_.c_str(), seconds);
  instruction_ = result.instruction;
  last_gmacs_ = result.macs_per_second * 1e-9;
  best_gmacs_ = std::max(best_gmacs_, last_gmacs_);
  if (latest_.size() < kRemembered) {
    latest_.push_back(last_gmacs_);
  } else {
    latest_[next_] = last_gmacs_;
    next_ = (next_ + 1) % kRemembered;
  }
  std::vector<double> sorted = latest_;
  const auto good = sorted.begin() + static_cast<std::ptrdiff_t>(
                                         kGoodQuantile * static_cast<double>(sorted.size() - 1));
  std::nth_element(sorted.begin(), good, sorted.end());
  good_gmacs_ = *good;
}

}  // namespace radiance::lab
