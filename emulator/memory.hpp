// Global memory: host memory that the emulator handed out, and the table of what is live.
//
// A device address is the host address. Every allocation stands between unmapped pages and its
// address is never given out again, so that a wild or a late access is always seen: by the table in
// kernels, by a fault of the host process elsewhere.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "emulator/touched_lines.hpp"

namespace radiance::emulator {

enum class AccessKind : uint8_t { kRead, kWrite, kAtomic };

struct Allocation {
  uint64_t address = 0;
  uint64_t bytes = 0;   // as asked for; the mapping behind it is larger
  uint64_t number = 0;  // 1, 2, ... in the order of allocation: names it in messages
  bool live = true;
  uint64_t end() const { return address + bytes; }
};

// All allocations, live and freed, by address. Immutable: a launch works on the list it began with.
using AllocationList = std::vector<Allocation>;

class Memory {
 public:
  Memory();
  ~Memory();
  Memory(const Memory&) = delete;
  Memory& operator=(const Memory&) = delete;

  // Null where the host has none left. Zero bytes give a valid address that may not be accessed.
  // The contents are filled with `poison` bytes (a kernel must not rely on zeros).
  void* allocate(size_t bytes, uint8_t poison = 0xa5);
  // False where `address` is not the start of a live allocation.
  bool free(void* address);
  // Makes memory of the caller's own accessible to kernels (hipHostRegister).
  bool adopt(void* address, size_t bytes);
  bool forget(void* address);

  // The live allocation that holds the bytes wholly.
  bool contains(const void* address, size_t bytes) const;
  // The live allocation that holds `address`, or a default one with bytes = 0.
  Allocation find(const void* address) const;

  std::shared_ptr<const AllocationList> list() const;

 private:
  struct Mapping {
    void* begin;
    size_t bytes;
    uint64_t address;
    bool owned;
  };
  void publish(AllocationList list);

  mutable std::mutex mutex_;
  std::shared_ptr<const AllocationList> list_;
  std::vector<Mapping> mappings_;
  uint64_t next_number_ = 1;
};

// One thread's view during a launch: remembers the allocation it hit last, since a kernel touches
// few.
class MemoryView {
 public:
  explicit MemoryView(std::shared_ptr<const AllocationList> list) : list_(std::move(list)) {}

  // Whether [address, address + bytes) lies in one live allocation.
  bool accessible(uint64_t address, uint64_t bytes) {
    for (const Range& r : recent_) {
      if (address >= r.begin && address + bytes <= r.end && address + bytes >= address) return true;
    }
    return look_up(address, bytes);
  }

  // The allocation that holds `address`, or the closest one below and above, in words for a
  // message: "8 bytes past the end of allocation 3 (0x7f.. + 4096)", "inside allocation 2, which
  // was freed".
  std::string describe(uint64_t address) const;

  const AllocationList& list() const { return *list_; }

  // The cache lines that this thread's accesses of one kind have touched; for the launch's
  // counters.
  TouchedLines& touched(AccessKind kind) { return touched_[static_cast<size_t>(kind)]; }

 private:
  struct Range {
    uint64_t begin = 1, end = 0;
  };
  bool look_up(uint64_t address, uint64_t bytes);

  std::shared_ptr<const AllocationList> list_;
  TouchedLines touched_[3];
  Range recent_[4];
  unsigned next_ = 0;
};

}  // namespace radiance::emulator
