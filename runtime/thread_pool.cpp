#include "runtime/thread_pool.hpp"

#include <immintrin.h>

namespace radiance {
namespace {

// How long to spin before sleeping. A decode forward is a few hundred microseconds to milliseconds
// and comes back to back; a futex wake costs about 50 us of it. A pause is 40 to 140 clocks.
constexpr int kSpins = 1000;

constexpr uint64_t kClosed = uint64_t{1} << 31;
constexpr uint64_t kJoined = kClosed - 1;

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

void ThreadPool::run_raw(RawFunction function, void* context, Wait wait) {
  std::unique_lock lock(busy_, std::try_to_lock);
  if (!lock.owns_lock() || workers_.empty()) {
    const int calls = wait == Wait::kForAll ? threads() : 1;
    for (int i = 0; i < calls; ++i) function(context, i);
    return;
  }
  // Nobody reads these: every worker that joined the last generation has finished.
  function_ = function;
  context_ = context;
  finished_.store(0, std::memory_order_relaxed);
  const uint32_t generation = generation_.load(std::memory_order_relaxed) + 1;
  job_.store(uint64_t{generation} << 32, std::memory_order_release);
  generation_.store(generation, std::memory_order_release);
  generation_.notify_all();
  function(context, 0);
  const auto joined =
      wait == Wait::kForAll
          ? static_cast<uint32_t>(workers_.size())
          : static_cast<uint32_t>(job_.fetch_or(kClosed, std::memory_order_acq_rel) & kJoined);
  for (uint32_t seen; (seen = finished_.load(std::memory_order_acquire)) != joined;) {
    wait_change(finished_, seen);
  }
}

bool ThreadPool::join(uint32_t generation) {
  uint64_t job = job_.load(std::memory_order_acquire);
  while (job >> 32 == generation && (job & kClosed) == 0) {
    if (job_.compare_exchange_weak(job, job + 1, std::memory_order_acq_rel,
                                   std::memory_order_acquire))
      return true;
  }
  return false;
}

void ThreadPool::work(int worker) {
  uint32_t seen = 0;
  for (;;) {
    wait_change(generation_, seen);
    if (stop_.load()) return;
    seen = generation_.load(std::memory_order_acquire);
    if (!join(seen)) continue;
    function_(context_, worker);
    finished_.fetch_add(1, std::memory_order_acq_rel);
    finished_.notify_one();
  }
}

}  // namespace radiance
