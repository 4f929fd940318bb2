// The decode kernels that ship, for groups of 128 and more.
#include "kernels/gfx1201/decode.hip.hpp"

namespace radiance::gfx1201 {

RADIANCE_KERNEL(kThreads) void autoround_decode_r1(GemmParams p) { decode<DecodeConfig{1}>(p); }
RADIANCE_KERNEL(kThreads) void autoround_decode_r2(GemmParams p) { decode<DecodeConfig{2}>(p); }
RADIANCE_KERNEL(kThreads) void autoround_decode_r3(GemmParams p) { decode<DecodeConfig{3}>(p); }
RADIANCE_KERNEL(kThreads) void autoround_decode_r4(GemmParams p) { decode<DecodeConfig{4}>(p); }
RADIANCE_KERNEL(kThreads) void autoround_decode_r1_split(GemmParams p) {
  decode<DecodeConfig{1, true}>(p);
}
RADIANCE_KERNEL(kThreads) void autoround_decode_r2_split(GemmParams p) {
  decode<DecodeConfig{2, true}>(p);
}
RADIANCE_KERNEL(kThreads) void autoround_decode_r3_split(GemmParams p) {
  decode<DecodeConfig{3, true}>(p);
}
// Left alone the compiler takes 128 registers here, and two waves a SIMD fewer.
RADIANCE_KERNEL(kThreads)
__attribute__((amdgpu_waves_per_eu(12))) void autoround_decode_r4_split(GemmParams p) {
  decode<DecodeConfig{4, true}>(p);
}

}  // namespace radiance::gfx1201
