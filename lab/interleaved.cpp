#include "lab/interleaved.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <thread>

#include "lab/preemptions.hpp"
#include "lab/replayed.hpp"

namespace radiance::lab {

namespace {

constexpr double kSampleUs = 2000;
// After a guard that refused: disturbances last longer than a sample, but often not much longer, so
// that a round waits for its turn a while before it is given up.
constexpr std::chrono::milliseconds kPause{5};
constexpr int kGuardTries = 25;

// Two device events around some work.
class Stopwatch {
 public:
  explicit Stopwatch(Device& device)
      : device_(device), first_(device.create_event()), second_(device.create_event()) {}
  ~Stopwatch() {
    device_.destroy_event(first_);
    device_.destroy_event(second_);
  }
  Stopwatch(const Stopwatch&) = delete;
  Stopwatch& operator=(const Stopwatch&) = delete;

  template <typename Work>
  double time_us(const Work& work) {
    device_.record(first_, nullptr);
    work();
    device_.record(second_, nullptr);
    return device_.elapsed_us(first_, second_);
  }

 private:
  Device& device_;
  EventHandle first_, second_;
};

struct Batch {
  int calls, reads;
};

Measurement count_calls(Device& device, const std::vector<Contestant>& contestants) {
  Measurement result;
  for (const Contestant& contestant : contestants) {
    device.take_counters();
    contestant.call(nullptr);
    device.synchronize(nullptr);
    result.contestants.emplace_back();
    result.contestants.back().calls_per_sample = 1;
    result.contestants.back().counters = device.take_counters();
  }
  return result;
}

}  // namespace

Measurement measure_interleaved(const Engine& engine, const std::vector<Contestant>& contestants,
                                const SamplingLimits& limits) {
  if (engine.device().take_counters()) return count_calls(engine.device(), contestants);
  if (auto replayed = measure_replayed(engine.device(), contestants, limits)) return *replayed;
  Stopwatch stopwatch(engine.device());
  // As many as fill a sample, but never a whole turn: the reads must not meet what the calls read.
  auto batch_of = [&](const Contestant& contestant, double us) {
    const double wanted = std::ceil(kSampleUs / std::max(us, 1e-3));
    return static_cast<int>(std::clamp<double>(wanted, 1, std::max(1, contestant.copies / 2)));
  };

  Measurement result;
  const bool on_host = engine.device().info().name.rfind("cpu", 0) == 0;
  Preemptions preemptions;
  auto note = [&](bool good) {
    result.discarded += !good;
    return good;
  };
  auto wait_for = [&](PeakGuard& guard) {
    for (int tries = 0; tries < kGuardTries; ++tries) {
      if (note(guard.pass())) return true;
      std::this_thread::sleep_for(kPause);
    }
    return false;
  };
  // Times work; whether no other program cut it in two.
  auto whole = [&](double* us, const auto& work) {
    preemptions.start();
    *us = stopwatch.time_us(work);
    return note(!on_host || !preemptions.too_many(*us));
  };

  result.contestants.resize(contestants.size());
  std::vector<Batch> batches;
  for (size_t i = 0; i < contestants.size(); ++i) {
    const Contestant& contestant = contestants[i];
    contestant.call(nullptr);
    const double call_us = stopwatch.time_us([&] { contestant.call(nullptr); });
    const double read_us = stopwatch.time_us([&] { contestant.read(nullptr); });
    batches.push_back({batch_of(contestant, call_us), batch_of(contestant, read_us)});
    result.contestants[i].calls_per_sample = batches.back().calls;
  }

  using Clock = std::chrono::steady_clock;
  const auto start = Clock::now();
  const auto elapsed = [&] { return std::chrono::duration<double>(Clock::now() - start).count(); };
  int taken = 0;
  for (int attempt = 0; taken < limits.samples; ++attempt) {
    if (elapsed() > (taken >= SamplingLimits::kFewest ? 1 : 2) * limits.seconds) break;
    std::vector<double> us(contestants.size()), gbps(contestants.size()), peaks(contestants.size());
    bool good = true;
    for (size_t turn = 0; turn < contestants.size(); ++turn) {
      // Nobody goes first every time.
      const size_t i = attempt % 2 == 0 ? turn : contestants.size() - 1 - turn;
      const Contestant& contestant = contestants[i];
      PeakGuard& guard = *contestant.guard;
      double calls_us = 0, reads_us = 0;
      const auto calls = [&] {
        for (int c = 0; c < batches[i].calls; ++c) contestant.call(nullptr);
      };
      const auto reads = [&] {
        for (int r = 0; r < batches[i].reads; ++r) contestant.read(nullptr);
      };
      good = wait_for(guard) && whole(&calls_us, calls) && note(guard.pass()) &&
             whole(&reads_us, reads);
      if (!good) break;
      peaks[i] = guard.last_gmacs();
      us[i] = calls_us / batches[i].calls;
      const double read_us = reads_us / batches[i].reads;
      gbps[i] = static_cast<double>(contestant.read_bytes) / read_us * 1e-3;
    }
    if (!good) continue;
    ++taken;
    for (size_t i = 0; i < contestants.size(); ++i) {
      result.contestants[i].us.push_back(us[i]);
      result.contestants[i].probe_gbps.push_back(gbps[i]);
      result.contestants[i].peak_gmacs.push_back(peaks[i]);
    }
  }
  return result;
}

}  // namespace radiance::lab
