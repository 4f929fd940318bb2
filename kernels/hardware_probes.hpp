// What a target's kernels assume of the hardware, asked of the device itself. Only gfx1201 has any.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace radiance {

class HardwareProbes {
 public:
  virtual ~HardwareProbes() = default;

  // ---- v_perm_b32 ----
  struct PermOperands {
    uint32_t s0, s1, selector;
  };
  virtual std::vector<uint32_t> permute(std::span<const PermOperands> operands) = 0;

  // ---- the matrix unit ----
  // Each of the 256 e4m3 bytes times one, as an operand of the left (rows of activations) and of
  // the right (weights); 0 for the two NaN bytes, which are left out.
  struct OperandTable {
    float left[256], right[256];
  };
  virtual OperandTable multiply_by_one() = 0;

  // ---- the kernels' unpacks ----
  // One way from a word of eight nibbles to eight operand bytes, and what value a nibble then has:
  // that of its e4m3 byte over `unit`.
  struct Unpack {
    std::string name;
    float unit;
    float value[16];             // of the nibbles
    std::vector<uint8_t> bytes;  // 8 a word: of nibble 0, 1, 2, ... of the word
  };
  virtual std::vector<Unpack> unpack(std::span<const uint32_t> words) = 0;
};

}  // namespace radiance
