// Host threads for the lab's own work (references); the device's threads are another matter.
#pragma once

#include <algorithm>
#include <cstdint>
#include <exception>
#include <thread>
#include <vector>

namespace radiance::lab {

// Calls body(first, last) for consecutive ranges of 0..count-1, each a multiple of `grain` long but
// the last, one a host thread; rethrows the first exception.
template <typename Body>
void parallel_ranges(int64_t count, int64_t grain, const Body& body) {
  const int64_t units = (count + grain - 1) / grain;
  const int64_t threads = std::clamp<int64_t>(
      static_cast<int64_t>(std::thread::hardware_concurrency()), 1, std::max<int64_t>(units, 1));
  std::vector<std::exception_ptr> errors(static_cast<size_t>(threads));
  auto run = [&](int64_t thread) {
    const int64_t first = units * thread / threads * grain;
    const int64_t last = std::min(count, units * (thread + 1) / threads * grain);
    try {
      if (first < last) body(first, last);
    } catch (...) {
      errors[static_cast<size_t>(thread)] = std::current_exception();
    }
  };
  std::vector<std::thread> workers;
  for (int64_t thread = 1; thread < threads; ++thread) workers.emplace_back(run, thread);
  run(0);
  for (std::thread& worker : workers) worker.join();
  for (const std::exception_ptr& error : errors) {
    if (error) std::rethrow_exception(error);
  }
}

}  // namespace radiance::lab
