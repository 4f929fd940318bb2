#include "lab/interleaved.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <thread>

#include "lab/preemptions.hpp"

namespace radiance::lab {

namespace {

constexpr double kSampleUs = 2000;
// After a sample that a guard refused: disturbances last longer than a sample.
constexpr std::chrono::milliseconds kPause{10};

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

void call_once(const Contestant& contestant) {
  const ForwardCall& call = contestant.calls->next();
  const Linear& linear = contestant.weights->next_linear();
  if (contestant.scope == Scope::kOp) {
    linear.forward(call);
  } else {
    linear.gemm(call.gemm);
  }
}

struct Batch {
  int calls, reads;
};

}  // namespace

Measurement measure_interleaved(const Engine& engine, PeakGuard& guard,
                                const std::vector<Contestant>& contestants,
                                const SamplingLimits& limits) {
  Stopwatch stopwatch(engine.device());
  Backend& backend = engine.backend();
  auto read_once = [&](const Contestant& contestant) {
    const Buffer& buffer = contestant.weights->next_buffer();
    backend.stream_read(buffer.get(), buffer.bytes() / 64 * 64, nullptr);
  };
  // As many as fill a sample, but never a whole turn: the reads must not meet what the calls read.
  auto batch_of = [&](const Contestant& contestant, double us) {
    const double wanted = std::ceil(kSampleUs / std::max(us, 1e-3));
    return static_cast<int>(
        std::clamp<double>(wanted, 1, std::max(1, contestant.weights->copies() / 2)));
  };

  // Times work whose guard passed; whether it ran undisturbed.
  const bool on_host = engine.device().info().name.rfind("cpu", 0) == 0;
  Preemptions preemptions;
  auto guarded = [&](double* us, std::vector<double>* peaks, const auto& work) {
    if (!guard.pass()) return false;
    peaks->push_back(guard.last_gmacs());
    preemptions.start();
    *us = stopwatch.time_us(work);
    return !on_host || !preemptions.too_many(*us);
  };

  Measurement result;
  result.contestants.resize(contestants.size());
  std::vector<Batch> batches;
  for (size_t i = 0; i < contestants.size(); ++i) {
    const Contestant& contestant = contestants[i];
    call_once(contestant);
    const double call_us = stopwatch.time_us([&] { call_once(contestant); });
    const double read_us = stopwatch.time_us([&] { read_once(contestant); });
    batches.push_back({batch_of(contestant, call_us), batch_of(contestant, read_us)});
    result.contestants[i].calls_per_sample = batches.back().calls;
  }

  using Clock = std::chrono::steady_clock;
  const auto start = Clock::now();
  const auto elapsed = [&] { return std::chrono::duration<double>(Clock::now() - start).count(); };
  int taken = 0;
  for (int attempt = 0;
       taken < limits.samples && attempt < limits.samples * SamplingLimits::kAttemptsPerSample;
       ++attempt) {
    if (taken >= SamplingLimits::kFewest && elapsed() > limits.seconds) break;
    std::vector<double> us(contestants.size()), gbps(contestants.size()), peaks;
    bool good = true;
    for (size_t turn = 0; good && turn < contestants.size(); ++turn) {
      // Nobody goes first every time.
      const size_t i = attempt % 2 == 0 ? turn : contestants.size() - 1 - turn;
      const Contestant& contestant = contestants[i];
      double calls_us = 0, reads_us = 0;
      good = guarded(&calls_us, &peaks,
                     [&] {
                       for (int c = 0; c < batches[i].calls; ++c) call_once(contestant);
                     }) &&
             guarded(&reads_us, &peaks, [&] {
               for (int r = 0; r < batches[i].reads; ++r) read_once(contestant);
             });
      us[i] = calls_us / batches[i].calls;
      const double read_us = reads_us / batches[i].reads;
      const size_t bytes = contestant.weights->packed_bytes() / 64 * 64;
      gbps[i] = static_cast<double>(bytes) / read_us * 1e-3;
    }
    if (!good) {
      ++result.discarded;
      std::this_thread::sleep_for(kPause);
      continue;
    }
    ++taken;
    for (size_t i = 0; i < contestants.size(); ++i) {
      result.contestants[i].us.push_back(us[i]);
      result.contestants[i].probe_gbps.push_back(gbps[i]);
    }
    result.peak_gmacs.insert(result.peak_gmacs.end(), peaks.begin(), peaks.end());
  }
  return result;
}

}  // namespace radiance::lab
