// The timing loop on a device that records work: replayed graphs, so that no launch from the host
// is in what is timed, as in a server that captures its steps.
#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "lab/interleaved.hpp"

namespace radiance::lab {

// As many calls as fill this long make a sample, within a graph's reasonable length.
constexpr double kReplaySampleUs = 1000;
constexpr int kFewestReplayed = 4, kMostReplayed = 400;

// How many calls of `us` a graph gets; a whole turn of the copies or more if `turn`.
int replayed_calls(double us, int copies, bool turn);

// Microseconds that `work` takes in a graph of a few of it: the least of some replays. It has run
// before, so that its kernels are loaded.
double replayed_us(Device& device, const std::function<void(StreamHandle)>& work);

// A sample is one replay of a graph of calls on consecutive copies, then one of streaming reads of
// every copy or more, which is the probe and leaves nothing of the next calls' copies in a cache.
// All contestants' samples of a round are submitted at once behind a replay that is not timed: the
// device is never idle between them. Nothing if the device records nothing.
std::optional<Measurement> measure_replayed(Device& device,
                                            const std::vector<Contestant>& contestants,
                                            const SamplingLimits& limits);

}  // namespace radiance::lab
