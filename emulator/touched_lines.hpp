// A set of 128-byte cache lines: which ones a launch has touched.
//
// Lines are kept as bits of 64 KiB regions in a hash table, so that a launch over gigabytes costs a
// thousandth of them.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <unordered_map>

namespace radiance::emulator {

constexpr uint64_t kLineBytes = 128;

class TouchedLines {
 public:
  TouchedLines() = default;
  TouchedLines(const TouchedLines&) = delete;  // recent_ points into regions_
  TouchedLines& operator=(const TouchedLines&) = delete;
  TouchedLines(TouchedLines&&) = default;
  TouchedLines& operator=(TouchedLines&&) = default;

  // `line`: address / kLineBytes.
  void add(uint64_t line) {
    const uint64_t region = line / kRegionLines;
    Recent& recent = recent_[region % std::size(recent_)];
    if (recent.region != region) recent = {region, &regions_[region]};
    const uint64_t bit = line % kRegionLines;
    (*recent.bits)[bit / 64] |= uint64_t{1} << (bit % 64);
  }
  void add(const TouchedLines& other) {
    for (const auto& [region, bits] : other.regions_) {
      Bits& mine = regions_[region];
      for (size_t i = 0; i < mine.size(); ++i) mine[i] |= bits[i];
    }
  }
  uint64_t count() const {
    uint64_t total = 0;
    for (const auto& [region, bits] : regions_) {
      for (const uint64_t word : bits) total += static_cast<uint64_t>(__builtin_popcountll(word));
    }
    return total;
  }

 private:
  static constexpr uint64_t kRegionLines = 512;
  using Bits = std::array<uint64_t, kRegionLines / 64>;
  std::unordered_map<uint64_t, Bits> regions_;  // its elements do not move
  // The rows of a matrix are in many regions at once.
  struct Recent {
    uint64_t region = ~uint64_t{0};
    Bits* bits = nullptr;
  };
  Recent recent_[64];
};

}  // namespace radiance::emulator
