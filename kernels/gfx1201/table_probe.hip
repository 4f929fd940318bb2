// What value the matrix unit gives every e4m3 byte, subnormals too, on either side: all bytes are
// one matrix of 16 x 16, and it is multiplied by the identity from the right and from the left.
#include "kernels/gfx1201/probe_geometry.hpp"
#include "kernels/gfx1201/wmma.hip.hpp"

namespace radiance::gfx1201 {
namespace {

constexpr u32 kOne = 0x38;

RADIANCE_DEVICE u32 without_nan(u32 byte) { return (byte & 0x7fu) == 0x7fu ? 0u : byte; }

}  // namespace

RADIANCE_KERNEL(kWave) void table_probe(TableProbeParams p) {
  const u32 lane = thread_index();
  // Byte j of a lane: k = 8 (lane / 16) + j, of row or column lane % 16.
  u32x2 bytes_by_row = {}, bytes_by_column = {}, identity = {};
#pragma unroll
  for (u32 j = 0; j < 8; ++j) {
    const u32 k = lane / 16 * 8 + j, shift = 8 * (j % 4);
    bytes_by_row[j / 4] |= without_nan(lane % 16 * 16 + k) << shift;
    bytes_by_column[j / 4] |= without_nan(k * 16 + lane % 16) << shift;
    identity[j / 4] |= (k == lane % 16 ? kOne : 0u) << shift;
  }
  const f32x8 left = wmma(bytes_by_row, identity, f32x8{});
  const f32x8 right = wmma(identity, bytes_by_column, f32x8{});
#pragma unroll
  for (u32 r = 0; r < 8; ++r) {
    const u32 row = lane / 16 * 8 + r;
    p.left[row * 16 + lane % 16] = left[r];
    p.right[row * 16 + lane % 16] = right[r];
  }
}

}  // namespace radiance::gfx1201
