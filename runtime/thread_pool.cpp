#include "runtime/thread_pool.hpp"

#include <immintrin.h>

namespace radiance {
namespace {

// How long to spin before sleeping. A decode forward is a few hundred microseconds to milliseconds
// and comes back to back; a futex wake costs about 50 us of it. A pause is 40 to 140 clocks.
constexpr int kSpins = 1000;

// Waits until value differs from `old`.
void wait_change(std::atomic<uint32_t>& value, uint32_t old) {
  for (int i = 0; i < kSpins; ++i) {
    if (value.load(std::memory_order_acquire) != old) return;
    _mm_pause();
  }
  value.wait(old, std::memory_order_acquire);
}

}  // namespace

ThreadPool::ThreadPool(int threads) {
  for (int i = 1; i < threads; ++i) workers_.emplace_back([this, i] { work(i); });
}

ThreadPool::~ThreadPool() {
  stop_.store(true);
  generation_.fetch_add(1, std::memory_order_release);
  generation_.notify_all();
  for (std::thread& worker : workers_) worker.join();
}

void ThreadPool::run_raw(RawFunction function, void* context) {
  std::unique_lock lock(busy_, std::try_to_lock);
  if (!lock.owns_lock() || workers_.empty()) {
    for (int i = 0; i < threads(); ++i) function(context, i);
    return;
  }
  function_ = function;
  context_ = context;
  pending_.store(static_cast<uint32_t>(workers_.size()), std::memory_order_relaxed);
  generation_.fetch_add(1, std::memory_order_release);
  generation_.notify_all();
  function(context, 0);
  for (uint32_t left; (left = pending_.load(std::memory_order_acquire)) != 0;) {
    wait_change(pending_, left);
  }
}

void ThreadPool::work(int worker) {
  uint32_t seen = 0;
  for (;;) {
    wait_change(generation_, seen);
    if (stop_.load()) return;
    ++seen;
    function_(context_, worker);
    if (pending_.fetch_sub(1, std::memory_order_acq_rel) == 1) pending_.notify_one();
  }
}

}  // namespace radiance
