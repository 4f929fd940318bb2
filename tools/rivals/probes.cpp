#include "probes.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstring>
#include <new>
#include <thread>
#include <vector>

namespace rivals {

namespace {

using Clock = std::chrono::steady_clock;

// Compiled for each, chosen when the program starts.
#define RIVALS_BEST_ISA __attribute__((target_clones("avx512f", "avx2", "default")))

typedef uint64_t Words __attribute__((vector_size(64), may_alias));
typedef float Floats __attribute__((vector_size(64)));

std::atomic<uint64_t> g_sink{0};  // keeps what the probes compute

// bytes: a multiple of 512.
RIVALS_BEST_ISA uint64_t read_streams(const uint8_t* data, size_t bytes) {
  const size_t part = bytes / 4;
  Words sum[8] = {};
  for (size_t at = 0; at < part; at += 128) {
    for (size_t i = 0; i < 4; ++i) {
      const auto* line = reinterpret_cast<const Words*>(data + i * part + at);
      sum[2 * i] ^= line[0];
      sum[2 * i + 1] ^= line[1];
    }
  }
  for (size_t i = 1; i < 8; ++i) sum[0] ^= sum[i];
  return sum[0][0] ^ sum[0][7];
}

RIVALS_BEST_ISA uint64_t multiply_add(int turns) {
  Floats sum[8] = {};
  Floats half = {}, one = {};
  half += 0.5f;
  one += 1.0f;
  for (int turn = 0; turn < turns; ++turn) {
    __asm__ volatile("" : "+m"(half));  // keeps the loop
    for (Floats& s : sum) s = s * half + one;
  }
  for (int i = 1; i < 8; ++i) sum[0] += sum[i];
  return static_cast<uint64_t>(sum[0][0]);
}

// Calls work(thread) on all threads at once: the seconds from when all are there to the last's end.
template <typename Work>
double time_together(int threads, const Work& work) {
  std::atomic<int> arrived{0};
  std::atomic<bool> go{false};
  std::vector<std::thread> others;
  for (int i = 1; i < threads; ++i) {
    others.emplace_back([&, i] {
      arrived.fetch_add(1);
      while (!go.load(std::memory_order_acquire)) {
      }
      work(i);
      arrived.fetch_sub(1);
    });
  }
  while (arrived.load() != threads - 1) {
  }
  const auto start = Clock::now();
  go.store(true, std::memory_order_release);
  work(0);
  while (arrived.load() != 0) {
  }
  const double seconds = std::chrono::duration<double>(Clock::now() - start).count();
  for (std::thread& other : others) other.join();
  return seconds;
}

constexpr size_t kPart = size_t{1} << 20;  // what a thread takes at a time
constexpr size_t kReadBytes = size_t{48} << 20;
constexpr size_t kPage = 4096;
constexpr size_t kHugePage = size_t{2} << 20;

}  // namespace

Guard::Guard(int threads, double share) : threads_(threads), share_(share) {
  for (int i = 0; i < 50; ++i) pass();
}

bool Guard::pass() {
  constexpr double kSeconds = 0.002;
  constexpr int kBatch = 1000;
  std::atomic<int64_t> turns{0};
  const double seconds = time_together(threads_, [&](int) {
    const auto until = Clock::now() + std::chrono::duration<double>(kSeconds);
    uint64_t seen = 0;
    int64_t mine = 0;
    do {
      seen += multiply_add(kBatch);
      mine += kBatch;
    } while (Clock::now() < until);
    turns.fetch_add(mine);
    g_sink.fetch_xor(seen, std::memory_order_relaxed);
  });
  last_ = static_cast<double>(turns.load()) / seconds;
  best_ = std::max(best_, last_);
  return last_ >= share_ * best_;
}

Stream::Stream(int threads, size_t bytes, int copies)
    : threads_(threads),
      bytes_((bytes + kPage - 1) / kPage * kPage),
      copies_(static_cast<size_t>(copies)),
      mapped_(copies_ * bytes_ + kHugePage) {
  void* data = mmap(nullptr, mapped_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (data == MAP_FAILED) throw std::bad_alloc();
  madvise(data, mapped_, MADV_HUGEPAGE);
  std::memset(data, 1, mapped_);
  data_ = static_cast<uint8_t*>(data);
}

Stream::~Stream() { munmap(data_, mapped_); }

double Stream::read_gbps() {
  // As many as take a millisecond or more, but never a whole turn; they lie one after the other.
  const size_t wanted = (kReadBytes + bytes_ - 1) / bytes_;
  const size_t count = std::clamp<size_t>(wanted, 1, std::max<size_t>(1, copies_ / 2));
  if (next_ + count > copies_) next_ = 0;
  const uint8_t* data = data_ + next_ * bytes_;
  const size_t bytes = count * bytes_;
  next_ += count;
  std::atomic<size_t> at{0};
  const double seconds = time_together(threads_, [&](int) {
    uint64_t seen = 0;
    for (size_t from; (from = at.fetch_add(kPart)) < bytes;) {
      seen ^= read_streams(data + from, std::min(kPart, bytes - from));
    }
    g_sink.fetch_xor(seen, std::memory_order_relaxed);
  });
  return static_cast<double>(bytes) / seconds * 1e-9;
}

}  // namespace rivals
