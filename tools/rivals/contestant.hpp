// What is timed: a linear layer y = x W^T of one library, in one weight format.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "numerics/bf16.hpp"

namespace rivals {

struct Problem {
  int64_t n = 0, k = 0;
  int threads = 0;
  uint64_t seed = 0;
  const std::vector<uint16_t>* x = nullptr;  // bf16 [largest m][k]
  size_t copies_floor = 0;        // bytes that a contestant's weights should exceed together
  size_t copies_limit = 0;        // bytes that they may take at most
  std::vector<std::string> only;  // rivals whose name holds one of these; empty: all

  bool wants(const std::string& name) const {
    for (const std::string& part : only) {
      if (name.find(part) != std::string::npos) return true;
    }
    return only.empty();
  }

  // Copies of a weight of this many bytes, at least two.
  int copies(size_t bytes) const {
    const size_t wanted = copies_floor / bytes + 1, most = copies_limit / bytes;
    const size_t copies = wanted < most ? wanted : most;
    return static_cast<int>(copies < 2 ? 2 : copies);
  }
};

// Weights are drawn, packed once by the library and copied; calls use the copies in turn.
class Contestant {
 public:
  explicit Contestant(const Problem& problem) : problem_(problem) {}
  virtual ~Contestant() = default;
  Contestant(const Contestant&) = delete;
  Contestant& operator=(const Contestant&) = delete;

  virtual std::string name() const = 0;     // "ggml q4_0"
  virtual std::string format() const = 0;   // of the weight
  virtual std::string scope() const = 0;    // "op", or "gemm" if x comes quantized
  virtual std::string config() const = 0;   // the path that calls take, in the library's own words
  virtual size_t weight_bytes() const = 0;  // of one packed copy
  virtual int copies() const = 0;
  virtual void prepare(int64_t m) = 0;                          // for calls of m rows; may repack
  virtual void run() = 0;                                       // one call, with the next copy
  virtual float output(int64_t row, int64_t column) const = 0;  // of the last call

  // What the library was given, exact: the reference is made of these.
  virtual void weight_row(int64_t row, float* values) const = 0;
  virtual void input_row(int64_t row, float* values) const {
    for (int64_t i = 0; i < problem_.k; ++i) {
      values[i] = radiance::bf16_to_f32((*problem_.x)[static_cast<size_t>(row * problem_.k + i)]);
    }
  }

 protected:
  size_t elements() const { return static_cast<size_t>(problem_.n * problem_.k); }
  const Problem problem_;
};

using Contestants = std::vector<std::unique_ptr<Contestant>>;

// `device` is a name of radiance_device_open.
Contestants make_radiance(const Problem& problem, const std::string& device);
Contestants make_ggml(const Problem& problem);
Contestants make_onednn(const Problem& problem);

std::string ggml_description();    // version and the instruction sets it was built for
std::string onednn_description();  // version and the instruction set it may use

}  // namespace rivals
