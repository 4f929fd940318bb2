// The decode kernels for groups of 64 and 32.
#include "kernels/gfx1201/decode.hip.hpp"

namespace radiance::gfx1201 {

RADIANCE_KERNEL(kThreads) void autoround_decode_r1_g64(GemmParams p) {
  decode<DecodeConfig{1, false, 2}>(p);
}
RADIANCE_KERNEL(kThreads) void autoround_decode_r2_g64(GemmParams p) {
  decode<DecodeConfig{2, false, 2}>(p);
}
RADIANCE_KERNEL(kThreads) void autoround_decode_r3_g64(GemmParams p) {
  decode<DecodeConfig{3, false, 2}>(p);
}
RADIANCE_KERNEL(kThreads) void autoround_decode_r4_g64(GemmParams p) {
  decode<DecodeConfig{4, false, 2}>(p);
}
RADIANCE_KERNEL(kThreads) void autoround_decode_r1_split_g64(GemmParams p) {
  decode<DecodeConfig{1, true, 2}>(p);
}
RADIANCE_KERNEL(kThreads) void autoround_decode_r2_split_g64(GemmParams p) {
  decode<DecodeConfig{2, true, 2}>(p);
}
RADIANCE_KERNEL(kThreads) void autoround_decode_r3_split_g64(GemmParams p) {
  decode<DecodeConfig{3, true, 2}>(p);
}
RADIANCE_KERNEL(kThreads) void autoround_decode_r4_split_g64(GemmParams p) {
  decode<DecodeConfig{4, true, 2}>(p);
}

RADIANCE_KERNEL(kThreads) void autoround_decode_r1_g32(GemmParams p) {
  decode<DecodeConfig{1, false, 4}>(p);
}
RADIANCE_KERNEL(kThreads) void autoround_decode_r2_g32(GemmParams p) {
  decode<DecodeConfig{2, false, 4}>(p);
}
RADIANCE_KERNEL(kThreads) void autoround_decode_r3_g32(GemmParams p) {
  decode<DecodeConfig{3, false, 4}>(p);
}
RADIANCE_KERNEL(kThreads) void autoround_decode_r4_g32(GemmParams p) {
  decode<DecodeConfig{4, false, 4}>(p);
}
RADIANCE_KERNEL(kThreads) void autoround_decode_r1_split_g32(GemmParams p) {
  decode<DecodeConfig{1, true, 4}>(p);
}
RADIANCE_KERNEL(kThreads) void autoround_decode_r2_split_g32(GemmParams p) {
  decode<DecodeConfig{2, true, 4}>(p);
}
RADIANCE_KERNEL(kThreads) void autoround_decode_r3_split_g32(GemmParams p) {
  decode<DecodeConfig{3, true, 4}>(p);
}
RADIANCE_KERNEL(kThreads) void autoround_decode_r4_split_g32(GemmParams p) {
  decode<DecodeConfig{4, true, 4}>(p);
}

}  // namespace radiance::gfx1201
