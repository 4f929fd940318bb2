#include "checkpoint/float_tensor.hpp"

#include <cstring>
#include <vector>

#include "numerics/bf16.hpp"
#include "numerics/f16.hpp"

namespace radiance {

namespace {

// The portable conversion branches on subnormals and does not vectorize; a table of all halves does
// the same at the speed of a load.
const std::vector<float>& f16_table() {
  static const std::vector<float> table = [] {
    std::vector<float> values(1u << 16);
    for (u32 h = 0; h < values.size(); ++h) values[h] = f16_to_f32(static_cast<u16>(h));
    return values;
  }();
  return table;
}

u16 half_at(std::span<const uint8_t> bytes, size_t index) {
  u16 value;
  std::memcpy(&value, bytes.data() + 2 * index, sizeof(value));
  return value;
}

}  // namespace

void convert_to_float(Dtype dtype, std::span<const uint8_t> bytes, std::span<float> out) {
  switch (dtype) {
    case Dtype::kF32:
      if (!out.empty()) std::memcpy(out.data(), bytes.data(), out.size_bytes());
      break;
    case Dtype::kBF16:
      for (size_t i = 0; i < out.size(); ++i) out[i] = bf16_to_f32(half_at(bytes, i));
      break;
    default: {
      const float* table = f16_table().data();
      for (size_t i = 0; i < out.size(); ++i) out[i] = table[half_at(bytes, i)];
    }
  }
}

}  // namespace radiance
