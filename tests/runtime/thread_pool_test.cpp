#include "runtime/thread_pool.hpp"

#include <gtest/gtest.h>

#include <array>
#include <thread>

namespace radiance {
namespace {

TEST(ThreadPool, CallsEveryWorkerOnce) {
  for (const int threads : {1, 2, 3, 5}) {
    ThreadPool pool(threads);
    ASSERT_EQ(pool.threads(), threads);
    for (int round = 0; round < 200; ++round) {
      std::array<std::atomic<int>, 5> calls{};
      pool.run([&](int worker) { calls[static_cast<size_t>(worker)].fetch_add(1); });
      for (int i = 0; i < 5; ++i) {
        ASSERT_EQ(calls[static_cast<size_t>(i)].load(), i < threads ? 1 : 0);
      }
    }
  }
}

TEST(ThreadPool, SharedWorkIsDoneOnceAndCompletely) {
  for (const int threads : {1, 2, 3, 5}) {
    ThreadPool pool(threads);
    for (int round = 0; round < 2000; ++round) {
      const int parts = round % 37;
      std::atomic<int> next{0};
      std::array<std::atomic<int>, 37> done{};
      std::array<std::atomic<int>, 5> calls{};
      pool.share([&](int worker) {
        calls[static_cast<size_t>(worker)].fetch_add(1);
        for (int part; (part = next.fetch_add(1)) < parts;)
          done[static_cast<size_t>(part)].fetch_add(1);
      });
      for (int i = 0; i < 37; ++i)
        ASSERT_EQ(done[static_cast<size_t>(i)].load(), i < parts ? 1 : 0);
      ASSERT_EQ(calls[0].load(), 1);
      for (int i = 1; i < 5; ++i)
        ASSERT_LE(calls[static_cast<size_t>(i)].load(), i < threads ? 1 : 0);
    }
  }
}

TEST(ThreadPool, SharedWorkIsShared) {
  ThreadPool pool(3);
  for (int round = 0; round < 20; ++round) {
    // Nobody ends before all have come.
    std::atomic<int> came{0};
    pool.share([&](int) {
      came.fetch_add(1);
      while (came.load() < 3) std::this_thread::yield();
    });
    EXPECT_EQ(came.load(), 3);
    // And both kinds may follow each other.
    std::atomic<int> calls{0};
    pool.share([&](int) { calls.fetch_add(1); });
    EXPECT_GE(calls.load(), 1);
    EXPECT_LE(calls.load(), 3);
    calls.store(0);
    pool.run([&](int) { calls.fetch_add(1); });
    EXPECT_EQ(calls.load(), 3);
  }
}

TEST(ThreadPool, WakesAfterALongSleep) {
  ThreadPool pool(2);
  std::atomic<int> calls{0};
  pool.run([&](int) { calls.fetch_add(1); });
  std::this_thread::sleep_for(std::chrono::milliseconds(50));  // past the spinning
  pool.run([&](int) { calls.fetch_add(1); });
  EXPECT_EQ(calls.load(), 4);
}

TEST(ThreadPool, SeveralCallersDoNotWaitForEachOther) {
  ThreadPool pool(2);
  std::atomic<int> calls{0};
  std::vector<std::thread> callers;
  for (int c = 0; c < 4; ++c) {
    callers.emplace_back([&] {
      for (int i = 0; i < 500; ++i) {
        pool.run([&](int) { calls.fetch_add(1); });
        pool.share([](int) {});
      }
    });
  }
  for (std::thread& caller : callers) caller.join();
  EXPECT_EQ(calls.load(), 4 * 500 * 2);
}

TEST(ThreadPool, ACallFromInsideRunsInline) {
  ThreadPool pool(2);
  std::atomic<int> calls{0};
  pool.run([&](int worker) {
    if (worker == 0) pool.run([&](int) { calls.fetch_add(1); });
  });
  EXPECT_EQ(calls.load(), 2);
}

}  // namespace
}  // namespace radiance
