#include "census/main_loop.hpp"

#include <algorithm>
#include <deque>
#include <tuple>

namespace radiance::census {
namespace {

Counts count(const std::vector<Instruction>& instructions, const ControlFlow& flow,
             const Loop& loop) {
  Counts counts;
  for (const size_t block : loop.blocks) {
    for (size_t i = flow.blocks[block].first; i < flow.blocks[block].last; ++i) {
      counts.add(instructions[i]);
    }
  }
  return counts;
}

// Follows the global loads of a wave through a run of instructions.
class LoadTracker {
 public:
  void see(const Instruction& instruction) {
    if (instruction.access.counts_as_load) {
      if (!batch_open_) ++batch_;
      batch_open_ = true;
      outstanding_.push_back({batch_, false});
    }
    if (instruction.loads_left) wait(*instruction.loads_left);
    if (instruction.joins_barrier()) end_stretch();
  }

  void end_stretch() {
    worst_trips_ = std::max(worst_trips_, trips_);
    worst_full_waits_ = std::max(worst_full_waits_, full_waits_);
    trips_ = full_waits_ = 0;
  }
  void forget_stretches() { worst_trips_ = worst_full_waits_ = 0; }

  int trips() const { return worst_trips_; }
  int full_waits() const { return worst_full_waits_; }

 private:
  struct Load {
    int batch;
    bool waited_for;  // the wave has already stood still for this load's batch
  };

  void wait(size_t left) {
    batch_open_ = false;
    full_waits_ += left == 0;
    bool stands = false;
    int newest = -1;
    while (outstanding_.size() > left) {
      stands = stands || !outstanding_.front().waited_for;
      newest = outstanding_.front().batch;
      outstanding_.pop_front();
    }
    trips_ += stands;
    for (Load& load : outstanding_) load.waited_for = load.waited_for || load.batch <= newest;
  }

  std::deque<Load> outstanding_;
  int batch_ = 0;
  bool batch_open_ = false;  // loads came since the last wait
  int trips_ = 0, full_waits_ = 0, worst_trips_ = 0, worst_full_waits_ = 0;
};

}  // namespace

std::optional<size_t> find_main_loop(const std::vector<Instruction>& instructions,
                                     const ControlFlow& flow) {
  std::vector<Counts> counts;
  for (const Loop& loop : flow.loops) counts.push_back(count(instructions, flow, loop));
  std::optional<size_t> best;
  const auto key = [&](size_t i) {
    return std::make_tuple(counts[i].wmma, counts[i].instructions);
  };
  for (size_t i = 0; i < flow.loops.size(); ++i) {
    // Of a nest, the loop that repeats the products; of one without products, the innermost.
    const std::vector<size_t>& children = flow.loops[i].children;
    const bool outer = std::any_of(children.begin(), children.end(), [&](size_t child) {
      return counts[child].wmma > 0 || counts[i].wmma == 0;
    });
    if (!outer && (!best || key(i) > key(*best))) best = i;
  }
  return best;
}

MainLoop describe_loop(const std::vector<Instruction>& instructions, const ControlFlow& flow,
                       const Loop& loop) {
  MainLoop result;
  result.counts = count(instructions, flow, loop);
  result.address = instructions[flow.blocks[loop.header].first].address;
  LoadTracker tracker;
  // The second turn begins with what the first left outstanding.
  for (int turn = 0; turn < 2; ++turn) {
    tracker.forget_stretches();
    for (const size_t block : loop.blocks) {
      for (size_t i = flow.blocks[block].first; i < flow.blocks[block].last; ++i) {
        tracker.see(instructions[i]);
      }
    }
    if (result.counts.barriers == 0) tracker.end_stretch();
  }
  result.round_trips = tracker.trips();
  result.full_load_waits = tracker.full_waits();
  return result;
}

}  // namespace radiance::census
