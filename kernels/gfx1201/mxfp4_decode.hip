// The MXFP4 decode kernels that ship: folded, and "_blocks" for weights that cannot be.
#include "kernels/gfx1201/mxfp4_decode.hip.hpp"

namespace radiance::gfx1201 {

RADIANCE_KERNEL(kThreads) void mxfp4_decode_r1(Mxfp4Params p) {
  mxfp4_decode<Mxfp4DecodeConfig{1}>(p);
}
RADIANCE_KERNEL(kThreads) void mxfp4_decode_r2(Mxfp4Params p) {
  mxfp4_decode<Mxfp4DecodeConfig{2}>(p);
}
RADIANCE_KERNEL(kThreads) void mxfp4_decode_r3(Mxfp4Params p) {
  mxfp4_decode<Mxfp4DecodeConfig{3}>(p);
}
RADIANCE_KERNEL(kThreads) void mxfp4_decode_r4(Mxfp4Params p) {
  mxfp4_decode<Mxfp4DecodeConfig{4}>(p);
}

RADIANCE_KERNEL(kThreads) void mxfp4_decode_r1_split(Mxfp4Params p) {
  mxfp4_decode<Mxfp4DecodeConfig{1, true}>(p);
}
RADIANCE_KERNEL(kThreads) void mxfp4_decode_r2_split(Mxfp4Params p) {
  mxfp4_decode<Mxfp4DecodeConfig{2, true}>(p);
}
RADIANCE_KERNEL(kThreads) void mxfp4_decode_r3_split(Mxfp4Params p) {
  mxfp4_decode<Mxfp4DecodeConfig{3, true}>(p);
}
RADIANCE_KERNEL(kThreads) void mxfp4_decode_r4_split(Mxfp4Params p) {
  mxfp4_decode<Mxfp4DecodeConfig{4, true}>(p);
}

RADIANCE_KERNEL(kThreads) void mxfp4_decode_r1_blocks(Mxfp4Params p) {
  mxfp4_decode<Mxfp4DecodeConfig{1, false, false}>(p);
}
RADIANCE_KERNEL(kThreads) void mxfp4_decode_r2_blocks(Mxfp4Params p) {
  mxfp4_decode<Mxfp4DecodeConfig{2, false, false}>(p);
}
RADIANCE_KERNEL(kThreads) void mxfp4_decode_r3_blocks(Mxfp4Params p) {
  mxfp4_decode<Mxfp4DecodeConfig{3, false, false}>(p);
}
RADIANCE_KERNEL(kThreads) void mxfp4_decode_r4_blocks(Mxfp4Params p) {
  mxfp4_decode<Mxfp4DecodeConfig{4, false, false}>(p);
}

RADIANCE_KERNEL(kThreads) void mxfp4_decode_r1_split_blocks(Mxfp4Params p) {
  mxfp4_decode<Mxfp4DecodeConfig{1, true, false}>(p);
}
RADIANCE_KERNEL(kThreads) void mxfp4_decode_r2_split_blocks(Mxfp4Params p) {
  mxfp4_decode<Mxfp4DecodeConfig{2, true, false}>(p);
}
RADIANCE_KERNEL(kThreads) void mxfp4_decode_r3_split_blocks(Mxfp4Params p) {
  mxfp4_decode<Mxfp4DecodeConfig{3, true, false}>(p);
}
RADIANCE_KERNEL(kThreads) void mxfp4_decode_r4_split_blocks(Mxfp4Params p) {
  mxfp4_decode<Mxfp4DecodeConfig{4, true, false}>(p);
}

}  // namespace radiance::gfx1201
