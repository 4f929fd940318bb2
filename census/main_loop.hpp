// The loop in which a kernel spends its time, found from the control flow, and what is in it.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "census/control_flow.hpp"
#include "census/counts.hpp"

namespace radiance::census {

struct MainLoop {
  Counts counts;
  uint64_t address = 0;  // of its header
  // Of the worst stretch from one barrier to the next (of one iteration, where there is none),
  // going round the loop: how often a wave stands still for a batch of global loads, and how many
  // of its waits leave nothing outstanding. Loads issued back to back under one wait or under
  // counted waits are one batch and one round trip.
  int round_trips = 0;
  int full_load_waits = 0;
};

// The loop with most WMMA instructions among those that have some and none in a loop inside; in a
// kernel without WMMA, that with most instructions among the innermost. Nothing without a loop.
std::optional<size_t> find_main_loop(const std::vector<Instruction>& instructions,
                                     const ControlFlow& flow);

MainLoop describe_loop(const std::vector<Instruction>& instructions, const ControlFlow& flow,
                       const Loop& loop);

}  // namespace radiance::census
