// How often another program took a core from this process.
#pragma once

#include <sys/resource.h>

namespace radiance::lab {

// A guard's two milliseconds fit into one time slice of a loaded machine: it passes, and the sample
// after it is cut in two by somebody else. The kernel counts those cuts.
class Preemptions {
 public:
  // A kernel thread that looks in now and then is no disturbance: one in this time is allowed.
  static constexpr double kAllowedEveryUs = 20000;

  void start() { at_start_ = count(); }
  // Whether there were more since start() than `us` microseconds allow.
  bool too_many(double us) const {
    return static_cast<double>(count() - at_start_) > us / kAllowedEveryUs;
  }

 private:
  static long count() {
    rusage usage{};
    getrusage(RUSAGE_SELF, &usage);
    return usage.ru_nivcsw;
  }
  long at_start_ = 0;
};

}  // namespace radiance::lab
