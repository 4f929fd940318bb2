// Threads that run one function at a time, together with the caller.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <thread>
#include <type_traits>
#include <vector>

namespace radiance {

class ThreadPool {
 public:
  // threads counts the caller: threads - 1 are created.
  explicit ThreadPool(int threads);
  ~ThreadPool();
  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;

  int threads() const { return static_cast<int>(workers_.size()) + 1; }

  // Calls function(worker) once for each worker 0..threads()-1 and returns when all have returned.
  // Nothing is allocated. The calls must not depend on each other: when another thread is using the
  // pool, they all run here, one after the other, instead of waiting for it.
  template <typename Function>
  void run(Function&& function) {
    using Plain = std::remove_reference_t<Function>;
    run_raw([](void* context, int worker) { (*static_cast<Plain*>(context))(worker); },
            const_cast<void*>(static_cast<const void*>(&function)));
  }

 private:
  using RawFunction = void (*)(void* context, int worker);
  void run_raw(RawFunction function, void* context);
  void work(int worker);

  std::vector<std::thread> workers_;
  std::mutex busy_;
  RawFunction function_ = nullptr;
  void* context_ = nullptr;
  std::atomic<uint32_t> generation_{0};
  std::atomic<uint32_t> pending_{0};
  std::atomic<bool> stop_{false};
};

}  // namespace radiance
