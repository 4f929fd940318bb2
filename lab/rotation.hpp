// Packed weights and activations for timing: copies that are used in turn.
#pragma once

#include <cstdint>
#include <vector>

#include "lab/inputs.hpp"
#include "linear/linear.hpp"

namespace radiance::lab {

// How many copies of `packed_bytes` make a working set of more than twice the last-level cache of a
// processor, or eight times that of a card, within half of the memory that is free; at least two.
// A card's cache throws out lines of any age: of a turn of twice its size a fifth is still there
// when its turn comes again (x = exp(-2 (1 - x)) of x survivors), of eight times nothing.
int automatic_copies(const DeviceInfo& info, size_t packed_bytes);

// Copies of one packed weight: a call on the next one cannot find it in a cache. What they hold is
// the same, for only the addresses matter.
class WeightRotation {
 public:
  // copies 0: automatic_copies.
  WeightRotation(const Engine& engine, const HostWeight& weight, int copies);

  int copies() const { return static_cast<int>(buffers_.size()); }
  size_t packed_bytes() const { return buffers_.front().bytes(); }
  size_t working_set_bytes() const { return packed_bytes() * buffers_.size(); }
  const WeightShape& shape() const { return shape_; }
  const Linear& front() const { return linears_.front(); }

  // Advances to the next copy.
  const Linear& next_linear() { return linears_[advance()]; }
  const Buffer& next_buffer() { return buffers_[advance()]; }

 private:
  size_t advance() { return next_ = (next_ + 1) % buffers_.size(); }
  WeightShape shape_;
  std::vector<Buffer> buffers_;
  std::vector<Linear> linears_;
  size_t next_ = 0;
};

// Activations, quantized activations and outputs of m rows, a few sets in turn (one, where it is
// larger than the last cache), and the workspace.
class CallRotation {
 public:
  // x is bf16; y of y_dtype.
  CallRotation(const Engine& engine, const Linear& linear, const HostRows& rows, int64_t m,
               radiance_dtype y_dtype, const char* config);

  int64_t m() const { return calls_.front().gemm.m; }
  // The next call, its x and xq filled. `config` is borrowed.
  const ForwardCall& next() { return calls_[next_ = (next_ + 1) % calls_.size()]; }

 private:
  static constexpr int kSets = 3;
  std::vector<Buffer> buffers_;
  std::vector<ForwardCall> calls_;
  size_t next_ = 0;
};

}  // namespace radiance::lab
