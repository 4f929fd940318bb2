// What the machine itself can do in the moments of the samples.
#pragma once

#include <cstddef>
#include <cstdint>

namespace rivals {

// A register-only loop on all threads: its rate falls when they share a physical core or when other
// programs run.
class Guard {
 public:
  // share: of the best rate, to count as undisturbed.
  Guard(int threads, double share);
  bool pass();  // probes once
  double last() const { return last_; }
  double best() const { return best_; }  // of the run, loop turns a second; may still rise

 private:
  const int threads_;
  const double share_;
  double last_ = 0, best_ = 0;
};

// Streaming reads of buffers of `bytes`, four streams a thread, each time of the next buffers.
class Stream {
 public:
  Stream(int threads, size_t bytes, int copies);
  ~Stream();
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;
  double read_gbps();  // 10^9 bytes a second

 private:
  const int threads_;
  const size_t bytes_, copies_, mapped_;
  uint8_t* data_ = nullptr;
  size_t next_ = 0;
};

}  // namespace rivals
