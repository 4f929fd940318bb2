#include "measure.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>
#include <optional>
#include <thread>

namespace rivals {

namespace {

using Clock = std::chrono::steady_clock;

constexpr double kSampleUs = 2000;
// Workers of OpenMP and of thread pools spin for a while after a call, and would slow what follows.
constexpr auto kSettle = std::chrono::milliseconds(5);

// Up to `most` of 0..count-1, evenly spread, the first and the last among them.
std::vector<int64_t> spread_indices(int64_t count, int64_t most) {
  const int64_t taken = std::min(count, most);
  std::vector<int64_t> indices;
  for (int64_t i = 0; i < taken; ++i) {
    indices.push_back(taken == 1 ? 0 : i * (count - 1) / (taken - 1));
  }
  return indices;
}

double time_us(const Entry& entry, int calls) {
  return entry.home->call([&] {
    const auto start = Clock::now();
    for (int i = 0; i < calls; ++i) entry.contestant->run();
    return std::chrono::duration<double, std::micro>(Clock::now() - start).count() / calls;
  });
}

}  // namespace

double check(const Entry& entry, const Problem& problem, int64_t m) {
  constexpr int64_t kRows = 32, kColumns = 67;
  const Contestant& contestant = *entry.contestant;
  time_us(entry, 1);
  std::vector<std::vector<float>> inputs;
  const std::vector<int64_t> rows = spread_indices(m, kRows);
  for (const int64_t row : rows) {
    inputs.emplace_back(static_cast<size_t>(problem.k));
    contestant.input_row(row, inputs.back().data());
  }
  std::vector<float> weight(static_cast<size_t>(problem.k));
  double error = 0, size = 0;
  for (const int64_t column : spread_indices(problem.n, kColumns)) {
    contestant.weight_row(column, weight.data());
    for (size_t i = 0; i < rows.size(); ++i) {
      double sum = 0;
      for (size_t k = 0; k < weight.size(); ++k) {
        sum += static_cast<double>(weight[k]) * static_cast<double>(inputs[i][k]);
      }
      const double difference = static_cast<double>(contestant.output(rows[i], column)) - sum;
      error += difference * difference;
      size += sum * sum;
    }
  }
  return std::isfinite(error) ? std::sqrt(error / size) : std::numeric_limits<double>::quiet_NaN();
}

Measurement measure(const std::vector<const Entry*>& contestants, Stream& stream, Guard& guard,
                    const Limits& limits) {
  Measurement result;
  for (const Entry* entry : contestants) {
    const double us = time_us(*entry, 1);
    Samples samples;
    samples.calls = static_cast<int>(std::clamp<double>(
        std::ceil(kSampleUs / us), 1, std::max(1, entry->contestant->copies() / 2)));
    result.contestants.push_back(samples);
  }

  // What `work` returns, between two guards that passed.
  const auto guarded = [&](const auto& work, int* discarded) -> std::optional<double> {
    for (int attempt = 0; attempt < Limits::kAttempts; ++attempt) {
      std::this_thread::sleep_for(kSettle);
      if (guard.pass()) {
        const double before = guard.last();
        const double value = work();
        std::this_thread::sleep_for(kSettle);
        if (guard.pass()) {
          result.guard.push_back(before / guard.best());
          result.guard.push_back(guard.last() / guard.best());
          return value;
        }
      }
      ++*discarded;
    }
    return std::nullopt;
  };

  const auto start = Clock::now();
  const size_t count = contestants.size();
  for (int round = 0; round < limits.samples; ++round) {
    if (round >= Limits::kFewest &&
        std::chrono::duration<double>(Clock::now() - start).count() > limits.seconds) {
      break;
    }
    int unused = 0;
    if (const auto gbps = guarded([&] { return stream.read_gbps(); }, &unused)) {
      result.probe_gbps.push_back(*gbps);
    }
    std::vector<std::optional<double>> us(count);
    for (size_t turn = 0; turn < count; ++turn) {
      // Nobody goes first every time.
      const size_t i = round % 2 == 0 ? turn : count - 1 - turn;
      Samples& samples = result.contestants[i];
      us[i] = guarded([&] { return time_us(*contestants[i], samples.calls); }, &samples.discarded);
      if (us[i]) samples.us.push_back(*us[i]);
    }
    for (size_t i = 0; i < count; ++i) {
      if (us[i] && us[0]) result.contestants[i].ratio.push_back(*us[i] / *us[0]);
    }
  }
  return result;
}

}  // namespace rivals
