// What the matrix unit takes each e4m3 byte for: multiplied with 1, one wave, 16 bytes at a time.
// The unpack of the shipped kernels rests on subnormals; a device that flushes them shows here.
#include "kernels/gfx1201/wmma.hip.hpp"

namespace radiance::gfx1201 {

RADIANCE_KERNEL(kWave) void operand_probe(OperandParams p) {
  constexpr u32 kOne = 0x38;
  const u32 lane = thread_index();
  for (u32 first = 0; first < 256; first += 16) {
    // A: 1 in every row's k = 0. B: column n has byte first + n there.
    const u32x2 a = {lane < 16 ? kOne : 0u, 0u};
    const u32x2 b = {lane < 16 ? first + lane : 0u, 0u};
    const f32x8 product = wmma(a, b, f32x8{});
    if (lane < 16) p.products[first + lane] = product[0];
  }
}

}  // namespace radiance::gfx1201
