#include "emulator/hip/state.hpp"

#include <unistd.h>

#include <algorithm>
#include <cstdlib>

#include "emulator/hip/counters_json.hpp"
#include "emulator/hip/errors.hpp"

namespace radiance::emulator::hip {
namespace {

constexpr uint64_t kCardMemory = uint64_t{32} << 30;

uint64_t host_memory() {
  return static_cast<uint64_t>(sysconf(_SC_PHYS_PAGES)) *
         static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
}

}  // namespace

State::State() : memory_bytes_(std::min(kCardMemory, host_memory() / 2)) {
  unready_ = missing_on_this_host();
  const char* text = std::getenv("RADIANCE_EMULATOR");
  if (text == nullptr) return;
  try {
    options_ = parse_options(text);
  } catch (const Failure& failure) {
    unready_ = failure.sentence();
  }
}

void State::require_ready() const {
  if (!unready_.empty()) fail(kNoDevice, unready_);
}

void* State::allocate(size_t bytes) {
  if (bytes > memory_bytes_ || used_bytes_.fetch_add(bytes) + bytes > memory_bytes_) {
    if (bytes <= memory_bytes_) used_bytes_ -= bytes;
    fail(kOutOfMemory, "the emulated card has " + std::to_string(memory_bytes_ >> 20) +
                           " MiB, of which " + std::to_string(used_bytes_ >> 20) + " are in use; " +
                           std::to_string(bytes) + " bytes do not fit");
  }
  void* pointer = memory_.allocate(bytes);
  if (pointer == nullptr) {
    used_bytes_ -= bytes;
    fail(kOutOfMemory, "the host has no " + std::to_string(bytes) + " bytes left");
  }
  const std::lock_guard lock(mutex_);
  allocations_[pointer] = bytes;
  return pointer;
}

void State::release(void* pointer) {
  {
    const std::lock_guard lock(mutex_);
    const auto found = allocations_.find(pointer);
    if (found == allocations_.end()) {
      fail(kInvalidValue, "what is freed was not allocated, or was freed before");
    }
    used_bytes_ -= found->second;
    allocations_.erase(found);
  }
  memory_.free(pointer);
}

void State::release_all() {
  std::map<void*, size_t> all;
  {
    const std::lock_guard lock(mutex_);
    all.swap(allocations_);
    used_bytes_ = 0;
  }
  for (const auto& [pointer, bytes] : all) memory_.free(pointer);
}

Options State::options() const {
  const std::lock_guard lock(mutex_);
  return options_;
}

void State::set_option(std::string_view name, std::string_view value) {
  const std::lock_guard lock(mutex_);
  hip::set_option(&options_, name, value);
  if (name == "seed") launches_since_seed_ = 0;
}

LaunchOptions State::next_launch() {
  const std::lock_guard lock(mutex_);
  LaunchOptions launch;
  launch.threads = options_.threads;
  launch.strict = options_.strict;
  if (options_.budget) launch.instruction_budget = *options_.budget;
  launch.omit = options_.omit;
  launch.flush_fp8 = options_.flush_fp8;
  // An odd multiplier spreads neighbouring seeds and launches over all 64 bits.
  constexpr uint64_t kSpread = 0x9e3779b97f4a7c15;
  if (options_.seed) launch.seed = *options_.seed + kSpread * launches_since_seed_++;
  return launch;
}

void State::count(const std::string& kernel, const Counters& counters) {
  const std::lock_guard lock(mutex_);
  Counted& counted = counted_[kernel];
  ++counted.launches;
  counted.counters.add(counters);
}

std::string State::counters_json() const {
  const std::lock_guard lock(mutex_);
  std::string text;
  for (const auto& [kernel, counted] : counted_) {
    text +=
        (text.empty() ? "" : ", ") + hip::counters_json(kernel, counted.launches, counted.counters);
  }
  return "{\"kernels\": [" + text + "]}";
}

void State::reset_counters() {
  const std::lock_guard lock(mutex_);
  counted_.clear();
}

// Never destroyed: a program may unregister its kernels after our destructors have run.
State& state() {
  static State* const only = new State;
  return *only;
}

}  // namespace radiance::emulator::hip
