// What the kernels of one call did, as the emulator counts it.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>

namespace radiance::lab {

// The device's own JSON (Device::take_counters) with sums over its kernels beside it, and what they
// come to for a slab of 128 k of a 16 x 16 tile of the output: a figure in which kernels with
// different tiles and splits can be compared.
nlohmann::json summarized_counters(const std::string& text, int64_t m, int64_t n, int64_t k);

}  // namespace radiance::lab
