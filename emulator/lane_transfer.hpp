// Between 32 host addresses and vector registers: the data movement of every LDS, global, flat,
// scratch and buffer access. The caller has checked the addresses of the active lanes.
#pragma once

#include <cstdint>
#include <cstring>

#include "emulator/lanes.hpp"

namespace radiance::emulator {

// Where the lanes of one access go, as host addresses. Those of inactive lanes have no meaning.
struct LaneAddresses {
  alignas(64) uint64_t at[kLanes];
};

enum class RegisterPart : uint8_t {
  kWhole,  // all of the register; what is narrower than a dword is extended to it
  kLow,    // d16: the other half stays
  kHigh,
};

// What one lane moves.
struct LaneForm {
  int bytes;
  bool is_signed = false;
  RegisterPart part = RegisterPart::kWhole;
  constexpr int registers() const { return (bytes + 3) / 4; }
};

using Dwords4 = uint32_t __attribute__((vector_size(16)));

namespace transfer_detail {

template <class T>
T read(uint64_t address) {
  T value;
  std::memcpy(&value, reinterpret_cast<const void*>(address), sizeof value);
  return value;
}

template <class T>
void write(uint64_t address, T value) {
  std::memcpy(reinterpret_cast<void*>(address), &value, sizeof value);
}

// rows[i] = column i: four lanes' dwords against four registers' lanes.
inline void transpose(Dwords4 (&r)[4]) {
  const Dwords4 a = __builtin_shufflevector(r[0], r[1], 0, 4, 1, 5);
  const Dwords4 b = __builtin_shufflevector(r[0], r[1], 2, 6, 3, 7);
  const Dwords4 c = __builtin_shufflevector(r[2], r[3], 0, 4, 1, 5);
  const Dwords4 d = __builtin_shufflevector(r[2], r[3], 2, 6, 3, 7);
  r[0] = __builtin_shufflevector(a, c, 0, 1, 4, 5);
  r[1] = __builtin_shufflevector(a, c, 2, 3, 6, 7);
  r[2] = __builtin_shufflevector(b, d, 0, 1, 4, 5);
  r[3] = __builtin_shufflevector(b, d, 2, 3, 6, 7);
}

template <LaneForm F>
uint32_t read_narrow(uint64_t address) {
  if constexpr (F.bytes == 1) {
    const uint8_t v = read<uint8_t>(address);
    return F.is_signed ? static_cast<uint32_t>(static_cast<int8_t>(v)) : v;
  } else {
    const uint16_t v = read<uint16_t>(address);
    return F.is_signed ? static_cast<uint32_t>(static_cast<int16_t>(v)) : v;
  }
}

template <LaneForm F>
void merge(uint32_t& d, uint32_t value) {
  if constexpr (F.part == RegisterPart::kWhole) {
    d = value;
  } else if constexpr (F.part == RegisterPart::kLow) {
    d = (d & 0xffff0000u) | (value & 0xffffu);
  } else {
    d = (d & 0xffffu) | value << 16;
  }
}

}  // namespace transfer_detail

// Fills `d` (F.registers() registers) in the active lanes.
template <LaneForm F>
void load_lanes(Lanes* d, const LaneAddresses& from, uint32_t active) {
  using namespace transfer_detail;
  if constexpr (F.bytes < 4) {
    for (int i = 0; i < kLanes; ++i) {
      if (active >> i & 1) merge<F>(d[0][i], read_narrow<F>(from.at[i]));
    }
  } else {
    if (active != kAllLanes) {
      for (uint32_t left = active; left != 0; left &= left - 1) {
        const int i = __builtin_ctz(left);
        uint32_t words[F.registers()];
        std::memcpy(words, reinterpret_cast<const void*>(from.at[i]), sizeof words);
        for (int r = 0; r < F.registers(); ++r) d[r][i] = words[r];
      }
    } else if constexpr (F.bytes == 16) {
      for (int i = 0; i < kLanes; i += 4) {
        Dwords4 rows[4];
        for (int j = 0; j < 4; ++j) rows[j] = read<Dwords4>(from.at[i + j]);
        transpose(rows);
        for (int j = 0; j < 4; ++j) std::memcpy(&d[j].v[i], &rows[j], sizeof rows[j]);
      }
    } else if constexpr (F.bytes == 8) {
      for (int i = 0; i < kLanes; ++i) {
        const uint64_t v = read<uint64_t>(from.at[i]);
        d[0][i] = static_cast<uint32_t>(v);
        d[1][i] = static_cast<uint32_t>(v >> 32);
      }
    } else {
      for (int i = 0; i < kLanes; ++i) {
        for (int r = 0; r < F.registers(); ++r) d[r][i] = read<uint32_t>(from.at[i] + 4 * r);
      }
    }
  }
}

// Writes `s` (F.registers() registers) of the active lanes, lane 0 first: where two lanes write one
// address the higher lane's value stays.
template <LaneForm F>
void store_lanes(const Lanes* s, const LaneAddresses& to, uint32_t active) {
  using namespace transfer_detail;
  if constexpr (F.bytes < 4) {
    constexpr int shift = F.part == RegisterPart::kHigh ? 16 : 0;
    for (uint32_t left = active; left != 0; left &= left - 1) {
      const int i = __builtin_ctz(left);
      const uint32_t v = s[0][i] >> shift;
      if constexpr (F.bytes == 1) {
        write(to.at[i], static_cast<uint8_t>(v));
      } else {
        write(to.at[i], static_cast<uint16_t>(v));
      }
    }
  } else {
    if (active != kAllLanes) {
      for (uint32_t left = active; left != 0; left &= left - 1) {
        const int i = __builtin_ctz(left);
        uint32_t words[F.registers()];
        for (int r = 0; r < F.registers(); ++r) words[r] = s[r][i];
        std::memcpy(reinterpret_cast<void*>(to.at[i]), words, sizeof words);
      }
    } else if constexpr (F.bytes == 16) {
      for (int i = 0; i < kLanes; i += 4) {
        Dwords4 rows[4];
        for (int j = 0; j < 4; ++j) std::memcpy(&rows[j], &s[j].v[i], sizeof rows[j]);
        transpose(rows);
        for (int j = 0; j < 4; ++j) write(to.at[i + j], rows[j]);
      }
    } else if constexpr (F.bytes == 8) {
      for (int i = 0; i < kLanes; ++i) {
        write(to.at[i], s[0][i] | static_cast<uint64_t>(s[1][i]) << 32);
      }
    } else {
      for (int i = 0; i < kLanes; ++i) {
        for (int r = 0; r < F.registers(); ++r) write(to.at[i] + 4 * r, s[r][i]);
      }
    }
  }
}

}  // namespace radiance::emulator
