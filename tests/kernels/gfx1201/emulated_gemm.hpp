// A product on the emulator, with its strict checks, against a plain fp64 sum.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "kernels/backend.hpp"

namespace radiance::gfx1201::test {

std::unique_ptr<Device> open_emulator(uint64_t order_seed);

struct Problem {
  WeightShape shape;
  int64_t m = 0;
  std::vector<uint8_t> codes, scales;  // as radiance_weight_desc takes them
  std::vector<double> weights;         // [n][k]
  std::vector<uint16_t> bias;          // fp16
  std::vector<uint8_t> xq;
  std::vector<float> x_scales;

  radiance_weight_desc desc() const;
};

// An fp16 of either sign and a size between 2^-most and 2.
uint16_t random_f16(std::mt19937& rng, int most);

// Random int4 weights, with rows and bias.
Problem int4_problem(std::mt19937& rng, int64_t m, int64_t n, int64_t k, int64_t group);

// Random MXFP4 weights, the scale byte of each feature's blocks as given, with rows and bias.
Problem mxfp4_problem(std::mt19937& rng, int64_t m, int64_t n, int64_t k,
                      const std::function<int(int64_t feature, int64_t block)>& scale);

// Rows and bias of a problem whose shape and m are set: every e4m3 byte but NaN.
void fill_rows(std::mt19937& rng, Problem& p);

// A problem's tensors on a device.
struct OnDevice {
  OnDevice(Device& device, const Backend& backend, const Problem& p);
  GemmCall call(const Problem& p, const char* config) const;
  Buffer packed, workspace, xq, x_scales, bias, y;
};

std::vector<float> run(Device& device, Backend& backend, const Problem& p, const OnDevice& tensors,
                       const PackedHeader& header, const std::string& config);

// Asserts on the test that runs.
void expect_matches(const Problem& p, const std::vector<float>& y, const std::string& config);

// Every configuration for these rows; twice, in two orders of waves, to the same bit; the counters
// of split-K are zero again after each; and, of up to 512 rows, the ablations that are right.
// Returns the configurations that ran.
std::set<std::string> check_configs(const Problem& p);

}  // namespace radiance::gfx1201::test
