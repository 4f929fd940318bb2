// The one device of this runtime and what all threads share of it.
#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <mutex>
#include <string>

#include "emulator/emulator.hpp"
#include "emulator/hip/options.hpp"

namespace radiance::emulator::hip {

class State {
 public:
  State();

  // Throws Failure where the runtime cannot work: no LLVM, a bad RADIANCE_EMULATOR.
  void require_ready() const;

  Memory& memory() { return memory_; }
  // What the device claims to have: 32 GiB, or half of the host's memory if that is less.
  uint64_t memory_bytes() const { return memory_bytes_; }
  uint64_t used_bytes() const { return used_bytes_; }

  // hipMalloc and its kin. Throws Failure (out of memory).
  void* allocate(size_t bytes);
  // Throws Failure (invalid value) if nothing lives there.
  void release(void* pointer);
  // Releases all of it (hipDeviceReset).
  void release_all();

  Options options() const;
  void set_option(std::string_view name, std::string_view value);
  // The options of the next launch; a seeded launch differs from the one before it.
  LaunchOptions next_launch();

  void count(const std::string& kernel, const Counters& counters);
  std::string counters_json() const;
  void reset_counters();

 private:
  struct Counted {
    uint64_t launches = 0;
    Counters counters;
  };

  Memory memory_;
  uint64_t memory_bytes_ = 0;
  std::atomic<uint64_t> used_bytes_ = 0;
  std::string unready_;  // why the runtime cannot work; "" if it can

  mutable std::mutex mutex_;  // of what follows
  Options options_;
  uint64_t launches_since_seed_ = 0;
  std::map<std::string, Counted> counted_;
  std::map<void*, size_t> allocations_;
};

State& state();

}  // namespace radiance::emulator::hip
