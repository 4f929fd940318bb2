// A random int4 weight in groups of 128, as the C interface takes it.
#pragma once

#include <cstdint>
#include <random>
#include <vector>

#include "radiance/radiance.hpp"

namespace radiance::test {

struct HostWeight {
  static constexpr int64_t kGroup = 128;
  int64_t n, k;
  std::vector<uint32_t> codes;
  std::vector<uint16_t> scales;

  HostWeight(int64_t features, int64_t depth)
      : n(features),
        k(depth),
        codes(static_cast<size_t>(k / 8 * n)),
        scales(static_cast<size_t>(k / kGroup * n)) {
    std::mt19937 rng(5);
    for (uint32_t& word : codes) word = static_cast<uint32_t>(rng());
    // fp16 of either sign, 2^-5 to 2^-4.
    for (uint16_t& scale : scales) {
      scale = static_cast<uint16_t>((rng() % 2 << 15) | 0x2800u | (rng() & 0x3ffu));
    }
  }

  radiance_weight_desc desc() const {
    auto d = api::make<radiance_weight_desc>();
    d.format = RADIANCE_AUTOROUND_INT4;
    d.n = n;
    d.k = k;
    d.group = kGroup;
    d.codes = codes.data();
    d.scales = scales.data();
    return d;
  }
};

}  // namespace radiance::test
