#include "emulator/memory.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>

#include <fmt/format.h>

namespace radiance::emulator {
namespace {

size_t page_bytes() {
  static const auto size = static_cast<size_t>(sysconf(_SC_PAGESIZE));
  return size;
}

// The first allocation that ends behind `address`.
AllocationList::const_iterator candidate(const AllocationList& list, uint64_t address) {
  return std::ranges::upper_bound(list, address, {}, [](const Allocation& a) { return a.end(); });
}

}  // namespace

Memory::Memory() : list_(std::make_shared<AllocationList>()) {}

Memory::~Memory() {
  for (const Mapping& mapping : mappings_) {
    if (mapping.owned) munmap(mapping.begin, mapping.bytes);
  }
}

void Memory::publish(AllocationList list) {
  std::ranges::sort(list, {}, &Allocation::address);
  list_ = std::make_shared<const AllocationList>(std::move(list));
}

void* Memory::allocate(size_t bytes, uint8_t poison) {
  const size_t page = page_bytes();
  if (bytes > SIZE_MAX / 2) return nullptr;
  // Starts at the first page behind a guard page, so that it is aligned like a HIP allocation; the
  // guard behind it begins up to a page late, which the table makes good in kernels.
  const size_t usable = (std::max<size_t>(bytes, 1) + page - 1) / page * page;
  const size_t mapped = usable + 2 * page;
  void* begin =
      mmap(nullptr, mapped, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (begin == MAP_FAILED) return nullptr;
  auto* address = static_cast<uint8_t*>(begin) + page;
  if (mprotect(address, usable, PROT_READ | PROT_WRITE) != 0) {
    munmap(begin, mapped);
    return nullptr;
  }
  // Large ones stay lazily zero: filling gigabytes would cost more than the launches that use them.
  constexpr size_t kMaxPoisoned = 64u << 20;
  if (poison && bytes <= kMaxPoisoned) std::memset(address, poison, bytes);

  const std::lock_guard lock(mutex_);
  AllocationList list = *list_;
  const auto number = reinterpret_cast<uint64_t>(address);
  list.push_back({number, bytes, next_number_++, true});
  mappings_.push_back({begin, mapped, number, true});
  publish(std::move(list));
  return address;
}

bool Memory::free(void* address) {
  const std::lock_guard lock(mutex_);
  AllocationList list = *list_;
  for (Allocation& a : list) {
    if (!a.live || a.address != reinterpret_cast<uint64_t>(address)) continue;
    const auto mapping = std::ranges::find_if(
        mappings_, [&](const Mapping& m) { return m.owned && m.address == a.address; });
    if (mapping == mappings_.end()) return false;
    // Gives the memory back and keeps the address: nothing else will ever stand here.
    if (mmap(mapping->begin, mapping->bytes, PROT_NONE,
             MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0) == MAP_FAILED) {
      return false;
    }
    a.live = false;
    publish(std::move(list));
    return true;
  }
  return false;
}

bool Memory::adopt(void* address, size_t bytes) {
  const std::lock_guard lock(mutex_);
  const auto begin = reinterpret_cast<uint64_t>(address);
  if (!address || !bytes || begin + bytes < begin) return false;
  AllocationList list = *list_;
  for (const Allocation& a : list) {
    if (a.live && begin < a.end() && a.address < begin + bytes) return false;
  }
  list.push_back({begin, bytes, next_number_++, true});
  mappings_.push_back({address, bytes, begin, false});
  publish(std::move(list));
  return true;
}

bool Memory::forget(void* address) {
  const std::lock_guard lock(mutex_);
  const auto begin = reinterpret_cast<uint64_t>(address);
  const auto mapping = std::ranges::find_if(
      mappings_, [&](const Mapping& m) { return !m.owned && m.address == begin; });
  if (mapping == mappings_.end()) return false;
  mappings_.erase(mapping);
  AllocationList list = *list_;
  // The address is the caller's and may be used again, so nothing is remembered of it.
  std::erase_if(list, [&](const Allocation& a) { return a.live && a.address == begin; });
  publish(std::move(list));
  return true;
}

std::shared_ptr<const AllocationList> Memory::list() const {
  const std::lock_guard lock(mutex_);
  return list_;
}

Allocation Memory::find(const void* address) const {
  const auto all = list();
  const auto number = reinterpret_cast<uint64_t>(address);
  for (auto at = candidate(*all, number); at != all->end() && at->address <= number; ++at) {
    if (at->live) return *at;
  }
  // A pointer to an allocation of zero bytes.
  for (const Allocation& a : *all) {
    if (a.live && a.address == number) return a;
  }
  return {};
}

bool Memory::contains(const void* address, size_t bytes) const {
  const Allocation a = find(address);
  const auto begin = reinterpret_cast<uint64_t>(address);
  return a.bytes != 0 && bytes <= a.end() - begin;
}

bool MemoryView::look_up(uint64_t address, uint64_t bytes) {
  for (auto at = candidate(*list_, address); at != list_->end() && at->address <= address; ++at) {
    if (!at->live) continue;
    if (bytes > at->end() - address) return false;
    recent_[next_++ & 3] = {at->address, at->end()};
    return true;
  }
  return false;
}

std::string MemoryView::describe(uint64_t address) const {
  const auto at = candidate(*list_, address);
  const auto label = [](const Allocation& a) {
    return fmt::format("allocation {} ({:#x}, {} bytes)", a.number, a.address, a.bytes);
  };
  if (at != list_->end() && at->address <= address) {
    if (!at->live) {
      return fmt::format("{} bytes into {}, which was freed", address - at->address, label(*at));
    }
    return fmt::format("{} bytes into {}", address - at->address, label(*at));
  }
  // The nearer neighbour, where it is near enough to be the buffer that was overrun.
  constexpr uint64_t kNear = 1 << 20;
  uint64_t past = ~uint64_t{0};
  if (at != list_->begin()) past = address - std::prev(at)->end();
  const uint64_t before = at != list_->end() ? at->address - address : ~uint64_t{0};
  if (past <= before && past < kNear) {
    const Allocation& below = *std::prev(at);
    return fmt::format("{} bytes past the end of {}{}", past, label(below),
                       below.live ? "" : ", which was freed");
  }
  if (before < kNear) {
    return fmt::format("{} bytes before {}{}", before, label(*at),
                       at->live ? "" : ", which was freed");
  }
  return "in no allocation";
}

}  // namespace radiance::emulator
