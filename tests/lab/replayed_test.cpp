// The replaying loop on a device whose time is a counter.
#include "lab/replayed.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <vector>

namespace radiance::lab {
namespace {

// Work takes the microseconds that it adds to the clock when it runs; the host's submissions take
// time too, as launches do, which must not be measured.
class FakeDevice final : public Device {
 public:
  explicit FakeDevice(bool captures) : captures_(captures) {}

  // What a contestant's work calls: in a recording it becomes part of the graph.
  void submit(int copy, double us) {
    if (recording_ != nullptr) {
      recording_->push_back({copy, us});
    } else {
      run({copy, us});
    }
  }

  void* allocate(size_t) override { return nullptr; }
  void release(void*) noexcept override {}
  void upload(void*, const void*, size_t) override {}
  void download(void*, const void*, size_t) override {}
  void fill(void*, int, size_t, StreamHandle) override {}
  void synchronize(StreamHandle) override {}
  StreamHandle create_stream() override { return this; }
  void destroy_stream(StreamHandle) noexcept override {}
  EventHandle create_event() override { return new double(0); }
  void destroy_event(EventHandle event) noexcept override { delete static_cast<double*>(event); }
  void record(EventHandle event, StreamHandle) override {
    *static_cast<double*>(event) = clock_us_;
  }
  double elapsed_us(EventHandle first, EventHandle second) override {
    return *static_cast<double*>(second) - *static_cast<double*>(first);
  }
  bool captures() const override { return captures_; }
  std::unique_ptr<Graph> capture(const std::function<void(StreamHandle)>& work) override {
    auto graph = std::make_unique<FakeGraph>(*this);
    recording_ = &graph->pieces;
    work(this);
    recording_ = nullptr;
    return graph;
  }

  std::vector<int> copies_run;  // of everything, in order

 private:
  struct Piece {
    int copy;
    double us;
  };
  struct FakeGraph final : Graph {
    explicit FakeGraph(FakeDevice& on) : device(on) {}
    void launch(StreamHandle) override {
      for (const Piece& piece : pieces) device.run(piece);
    }
    FakeDevice& device;
    std::vector<Piece> pieces;
  };

  void run(const Piece& piece) {
    clock_us_ += piece.us;
    copies_run.push_back(piece.copy);
  }

  bool captures_;
  double clock_us_ = 0;
  std::vector<Piece>* recording_ = nullptr;
};

// `first_copy` tells contestants' copies apart.
Contestant contestant(FakeDevice& device, int first_copy, int copies, double call_us,
                      double read_us) {
  auto next = std::make_shared<int>(0);
  Contestant result;
  result.call = [&device, next, first_copy, copies, call_us](StreamHandle) {
    device.submit(first_copy + (*next)++ % copies, call_us);
  };
  if (read_us > 0) {
    result.read = [&device, next, first_copy, copies, read_us](StreamHandle) {
      device.submit(first_copy + (*next)++ % copies, read_us);
    };
  }
  result.copies = copies;
  result.read_bytes = 1000;
  return result;
}

TEST(Replayed, ADeviceThatRecordsNothingIsLeftToTheOtherLoop) {
  FakeDevice device(false);
  EXPECT_FALSE(measure_replayed(device, {contestant(device, 0, 3, 5, 4)}, {}).has_value());
  EXPECT_TRUE(device.copies_run.empty());
}

TEST(Replayed, TimesEachContestantAndItsProbe) {
  FakeDevice device(true);
  SamplingLimits limits;
  limits.samples = 7;
  const std::vector<Contestant> all = {contestant(device, 0, 5, 20, 10),
                                       contestant(device, 100, 3, 500, 0)};
  const auto measured = measure_replayed(device, all, limits);
  ASSERT_TRUE(measured.has_value());
  EXPECT_TRUE(measured->replayed);
  EXPECT_EQ(measured->discarded, 0);
  const Samples& first = measured->contestants[0];
  const Samples& second = measured->contestants[1];
  ASSERT_EQ(first.us.size(), 7u);
  ASSERT_EQ(second.us.size(), 7u);
  EXPECT_EQ(first.calls_per_sample, 50);  // a millisecond of them
  EXPECT_EQ(second.calls_per_sample, kFewestReplayed);
  for (const double us : first.us) EXPECT_DOUBLE_EQ(us, 20);
  for (const double us : second.us) EXPECT_DOUBLE_EQ(us, 500);
  for (const double gbps : first.probe_gbps) EXPECT_DOUBLE_EQ(gbps, 0.1);
  EXPECT_TRUE(second.probe_gbps.empty()) << "a contestant without a probe";
  EXPECT_TRUE(first.peak_gmacs.empty()) << "nor with a guard";
}

TEST(Replayed, ReadsGoOverEveryCopyBetweenCalls) {
  EXPECT_EQ(replayed_calls(10, 7, true), 100);
  EXPECT_EQ(replayed_calls(1e6, 7, true), 7);
  EXPECT_EQ(replayed_calls(1e6, 7, false), kFewestReplayed);
  EXPECT_EQ(replayed_calls(0, 7, false), kMostReplayed);
  FakeDevice device(true);
  SamplingLimits limits;
  limits.samples = 1;
  ASSERT_TRUE(measure_replayed(device, {contestant(device, 0, 6, 2000, 3000)}, limits));
  // The last sample: four calls, then a read of every copy.
  const std::vector<int>& run = device.copies_run;
  ASSERT_GE(run.size(), 10u);
  const std::vector<int> reads(run.end() - 6, run.end());
  for (int copy = 0; copy < 6; ++copy) {
    EXPECT_EQ(std::count(reads.begin(), reads.end(), copy), 1) << copy;
  }
}

TEST(Replayed, AFewInAGraphTellHowLongWorkTakes) {
  FakeDevice device(true);
  const Contestant one = contestant(device, 0, 3, 12.5, 0);
  EXPECT_DOUBLE_EQ(replayed_us(device, one.call), 12.5);
}

}  // namespace
}  // namespace radiance::lab
