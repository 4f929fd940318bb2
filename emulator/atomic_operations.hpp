// What the read-modify-write operations of LDS, global and flat memory compute from the old value.
//
// Documented in the ISA's descriptions of DS and GLOBAL atomics. Float operations round to nearest
// even and keep subnormals (assumed for memory atomics whatever MODE says).
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>
#include <type_traits>

#include "numerics/bf16.hpp"
#include "numerics/f16.hpp"

namespace radiance::emulator::atomics {

// Every operation: apply(old, data, second) on the bits; `second` is the compare value or mask
// where kOperands is 2.
struct OneOperand {
  static constexpr int kOperands = 1;
};

struct Add : OneOperand {
  template <class T>
  static T apply(T old, T data, T) {
    return old + data;
  }
};
struct Subtract : OneOperand {
  template <class T>
  static T apply(T old, T data, T) {
    return old - data;
  }
};
struct ReverseSubtract : OneOperand {
  template <class T>
  static T apply(T old, T data, T) {
    return data - old;
  }
};
struct SubtractClamped : OneOperand {
  template <class T>
  static T apply(T old, T data, T) {
    return old < data ? T{0} : old - data;
  }
};
struct SubtractIfGreaterEqual : OneOperand {
  template <class T>
  static T apply(T old, T data, T) {
    return old < data ? old : old - data;
  }
};
struct Increment : OneOperand {
  template <class T>
  static T apply(T old, T data, T) {
    return old >= data ? T{0} : old + 1;
  }
};
struct Decrement : OneOperand {
  template <class T>
  static T apply(T old, T data, T) {
    return old == 0 || old > data ? data : old - 1;
  }
};
struct MinSigned : OneOperand {
  template <class T>
  static T apply(T old, T data, T) {
    using S = std::make_signed_t<T>;
    return static_cast<S>(data) < static_cast<S>(old) ? data : old;
  }
};
struct MaxSigned : OneOperand {
  template <class T>
  static T apply(T old, T data, T) {
    using S = std::make_signed_t<T>;
    return static_cast<S>(data) > static_cast<S>(old) ? data : old;
  }
};
struct MinUnsigned : OneOperand {
  template <class T>
  static T apply(T old, T data, T) {
    return data < old ? data : old;
  }
};
struct MaxUnsigned : OneOperand {
  template <class T>
  static T apply(T old, T data, T) {
    return data > old ? data : old;
  }
};
struct And : OneOperand {
  template <class T>
  static T apply(T old, T data, T) {
    return old & data;
  }
};
struct Or : OneOperand {
  template <class T>
  static T apply(T old, T data, T) {
    return old | data;
  }
};
struct Xor : OneOperand {
  template <class T>
  static T apply(T old, T data, T) {
    return old ^ data;
  }
};
struct Exchange : OneOperand {
  template <class T>
  static T apply(T, T data, T) {
    return data;
  }
};
// DS_CONDXCHG32_RTN_B64: each dword whose new value has its top bit set is exchanged, without that
// bit.
struct ConditionalExchange32 : OneOperand {
  static uint64_t apply(uint64_t old, uint64_t data, uint64_t) {
    uint64_t out = 0;
    for (int shift = 0; shift < 64; shift += 32) {
      const auto o = static_cast<uint32_t>(old >> shift), d = static_cast<uint32_t>(data >> shift);
      out |= static_cast<uint64_t>(d >> 31 ? d & 0x7fffffffu : o) << shift;
    }
    return out;
  }
};

struct CompareExchange {
  static constexpr int kOperands = 2;
  template <class T>
  static T apply(T old, T data, T compare) {
    return old == compare ? data : old;
  }
};
struct MaskedOr {
  static constexpr int kOperands = 2;
  template <class T>
  static T apply(T old, T mask, T bits) {
    return (old & ~mask) | bits;
  }
};

template <class T>
using FloatOf = std::conditional_t<sizeof(T) == 4, float, double>;

struct AddFloat : OneOperand {
  template <class T>
  static T apply(T old, T data, T) {
    return std::bit_cast<T>(std::bit_cast<FloatOf<T>>(old) + std::bit_cast<FloatOf<T>>(data));
  }
};

// IEEE minNum and maxNum: a number wins over a NaN; -0 is less than +0.
template <class T>
T smaller_number(T a, T b, bool want_larger) {
  const auto x = std::bit_cast<FloatOf<T>>(a), y = std::bit_cast<FloatOf<T>>(b);
  if (std::isnan(x)) return b;
  if (std::isnan(y)) return a;
  if (x == 0 && y == 0) return std::signbit(x) != want_larger ? a : b;
  return (x < y) != want_larger ? a : b;
}
struct MinNumber : OneOperand {
  template <class T>
  static T apply(T old, T data, T) {
    return smaller_number(old, data, false);
  }
};
struct MaxNumber : OneOperand {
  template <class T>
  static T apply(T old, T data, T) {
    return smaller_number(old, data, true);
  }
};

// The sum of two 16-bit floats is rounded once: fp32 has more than twice their precision.
struct AddPackedF16 : OneOperand {
  static uint32_t apply(uint32_t old, uint32_t data, uint32_t) {
    const auto sum = [](uint32_t a, uint32_t b) -> uint32_t {
      return f32_to_f16(f16_to_f32(static_cast<u16>(a)) + f16_to_f32(static_cast<u16>(b)));
    };
    return sum(old, data) | sum(old >> 16, data >> 16) << 16;
  }
};
struct AddPackedBf16 : OneOperand {
  static uint32_t apply(uint32_t old, uint32_t data, uint32_t) {
    const auto sum = [](uint32_t a, uint32_t b) -> uint32_t {
      return f32_to_bf16(bf16_to_f32(static_cast<u16>(a)) + bf16_to_f32(static_cast<u16>(b)));
    };
    return sum(old, data) | sum(old >> 16, data >> 16) << 16;
  }
};

}  // namespace radiance::emulator::atomics
