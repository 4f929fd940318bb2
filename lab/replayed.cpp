#include "lab/replayed.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <memory>
#include <string>

#include "radiance/error.hpp"

namespace radiance::lab {

namespace {

// A stream with events between the pieces of work on it.
class Timeline {
 public:
  explicit Timeline(Device& device) : device_(device), stream_(device.create_stream()) {}
  ~Timeline() {
    for (EventHandle event : events_) device_.destroy_event(event);
    device_.destroy_stream(stream_);
  }
  Timeline(const Timeline&) = delete;
  Timeline& operator=(const Timeline&) = delete;

  StreamHandle stream() const { return stream_; }

  void start() {
    used_ = 0;
    mark();
  }
  // The work is timed by its place.
  void launch(Graph& graph) {
    graph.launch(stream_);
    mark();
  }
  // Of the pieces since start(); waits for them.
  std::vector<double> times_us() {
    std::vector<double> times;
    for (size_t i = 1; i < used_; ++i) {
      times.push_back(device_.elapsed_us(events_[i - 1], events_[i]));
    }
    return times;
  }

 private:
  void mark() {
    if (used_ == events_.size()) events_.push_back(device_.create_event());
    device_.record(events_[used_++], stream_);
  }

  Device& device_;
  StreamHandle stream_;
  std::vector<EventHandle> events_;
  size_t used_ = 0;
};

using Work = std::function<void(StreamHandle)>;

// A number of repetitions of some work in one graph.
struct Repeated {
  std::unique_ptr<Graph> graph;
  int count = 0;
};

Repeated repeat(Device& device, const Work& work, int count) {
  return {device.capture([&](StreamHandle stream) {
            for (int i = 0; i < count; ++i) work(stream);
          }),
          count};
}

// As many repetitions as a sample takes, found by replaying a few.
Repeated sample_of(Device& device, Timeline& timeline, const Work& work, int copies, bool turn) {
  // The first run is not recorded: kernels may have to be loaded.
  work(timeline.stream());
  const Repeated few = repeat(device, work, kFewestReplayed);
  timeline.start();
  timeline.launch(*few.graph);
  timeline.launch(*few.graph);
  const double us = timeline.times_us()[1] / few.count;
  return repeat(device, work, replayed_calls(us, copies, turn));
}

// Runs work on behalf of a contestant: an error of the device says whose it is.
template <typename Working>
auto named(const Contestant& contestant, const Working& working) {
  try {
    return working();
  } catch (const Error& error) {
    throw Error(error.status(), contestant.name + ": " + error.what());
  }
}

struct Graphs {
  Repeated calls, reads;  // reads: none without a probe
};

}  // namespace

int replayed_calls(double us, int copies, bool turn) {
  const double wanted = std::ceil(kReplaySampleUs / std::max(us, 1e-3));
  const int calls = static_cast<int>(std::clamp<double>(wanted, kFewestReplayed, kMostReplayed));
  return turn ? std::max(calls, copies) : calls;
}

double replayed_us(Device& device, const Work& work) {
  constexpr size_t kReplays = 4;  // the first warms up
  Timeline timeline(device);
  const Repeated few = repeat(device, work, kFewestReplayed);
  timeline.start();
  for (size_t i = 0; i < kReplays; ++i) timeline.launch(*few.graph);
  const std::vector<double> times = timeline.times_us();
  return *std::min_element(times.begin() + 1, times.end()) / few.count;
}

std::optional<Measurement> measure_replayed(Device& device,
                                            const std::vector<Contestant>& contestants,
                                            const SamplingLimits& limits) {
  if (!device.captures()) return std::nullopt;
  Timeline timeline(device);
  std::vector<Graphs> graphs(contestants.size());
  Measurement result;
  result.replayed = true;
  result.contestants.resize(contestants.size());
  for (size_t i = 0; i < contestants.size(); ++i) {
    const Contestant& contestant = contestants[i];
    named(contestant, [&] {
      graphs[i].calls = sample_of(device, timeline, contestant.call, contestant.copies, false);
      if (!contestant.read) return;
      graphs[i].reads = sample_of(device, timeline, contestant.read, contestant.copies, true);
    });
    result.contestants[i].calls_per_sample = graphs[i].calls.count;
  }

  using Clock = std::chrono::steady_clock;
  const auto start = Clock::now();
  for (int taken = 0; taken < limits.samples; ++taken) {
    const double seconds = std::chrono::duration<double>(Clock::now() - start).count();
    if (seconds > (taken >= SamplingLimits::kFewest ? 1 : 2) * limits.seconds) break;
    // Nobody goes first every time.
    std::vector<size_t> order(contestants.size());
    for (size_t turn = 0; turn < order.size(); ++turn) {
      order[turn] = taken % 2 == 0 ? turn : order.size() - 1 - turn;
    }
    const Graphs& ahead = graphs[order.back()];
    (ahead.reads.graph ? ahead.reads : ahead.calls).graph->launch(timeline.stream());
    timeline.start();
    for (const size_t i : order) {
      timeline.launch(*graphs[i].calls.graph);
      if (graphs[i].reads.graph) timeline.launch(*graphs[i].reads.graph);
    }
    const std::vector<double> times = timeline.times_us();
    size_t piece = 0;
    for (const size_t i : order) {
      Samples& samples = result.contestants[i];
      samples.us.push_back(times[piece++] / graphs[i].calls.count);
      if (!graphs[i].reads.graph) continue;
      const double read_us = times[piece++] / graphs[i].reads.count;
      samples.probe_gbps.push_back(static_cast<double>(contestants[i].read_bytes) / read_us * 1e-3);
    }
  }
  for (size_t i = 0; i < contestants.size(); ++i) {
    if (contestants[i].guard == nullptr) continue;
    contestants[i].guard->pass();
    result.contestants[i].peak_gmacs.push_back(contestants[i].guard->last_gmacs());
  }
  return result;
}

}  // namespace radiance::lab
