// A thread that all calls into one library come from.
#pragma once

#include <condition_variable>
#include <future>
#include <mutex>
#include <thread>
#include <type_traits>

namespace rivals {

// OpenMP keeps a team of workers for each calling thread, and ggml configures the AMX tiles of a
// thread once, for good: it must not share threads with a library that configures them otherwise,
// as oneDNN and ours do at every call.
class HomeThread {
 public:
  HomeThread() : thread_([this] { work(); }) {}
  ~HomeThread() {
    post({});
    thread_.join();
  }
  HomeThread(const HomeThread&) = delete;
  HomeThread& operator=(const HomeThread&) = delete;

  // Runs function() there and returns what it returns, or throws what it throws.
  template <typename Function>
  auto call(const Function& function) {
    std::packaged_task<std::invoke_result_t<Function>()> task(function);
    auto result = task.get_future();
    post(std::packaged_task<void()>([&task] { task(); }));
    return result.get();
  }

 private:
  void post(std::packaged_task<void()> task) {
    {
      const std::lock_guard lock(mutex_);
      task_ = std::move(task);
      posted_ = true;
    }
    changed_.notify_one();
  }

  void work() {
    for (;;) {
      std::unique_lock lock(mutex_);
      changed_.wait(lock, [this] { return posted_; });
      posted_ = false;
      std::packaged_task<void()> task = std::move(task_);
      lock.unlock();
      if (!task.valid()) return;
      task();
    }
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  std::packaged_task<void()> task_;
  bool posted_ = false;
  std::thread thread_;
};

}  // namespace rivals
