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
    start(function, Wait::kForAll);
  }

  // The same for functions that take parts of one work until none is left: a worker that has not
  // begun when this thread finds nothing left is not waited for, and makes no call. Waking one
  // takes 50 us and more on a virtual machine, as long as a small layer takes.
  template <typename Function>
  void share(Function&& function) {
    start(function, Wait::kForThoseThatCame);
  }

 private:
  using RawFunction = void (*)(void* context, int worker);
  enum class Wait { kForAll, kForThoseThatCame };

  template <typename Function>
  void start(Function& function, Wait wait) {
    run_raw([](void* context, int worker) { (*static_cast<Function*>(context))(worker); },
            const_cast<void*>(static_cast<const void*>(&function)), wait);
  }
  void run_raw(RawFunction function, void* context, Wait wait);
  bool join(uint32_t generation);
  void work(int worker);

  std::vector<std::thread> workers_;
  std::mutex busy_;
  RawFunction function_ = nullptr;
  void* context_ = nullptr;
  std::atomic<uint32_t> generation_{0};
  // The generation, whether it is closed, and how many workers have joined it.
  std::atomic<uint64_t> job_{0};
  std::atomic<uint32_t> finished_{0};  // of those
  std::atomic<bool> stop_{false};
};

}  // namespace radiance
