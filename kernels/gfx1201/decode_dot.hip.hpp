// Up to four rows without the matrix unit, which would multiply rows that are not there: packed
// e4m3 dot products on the vector pipe. Loads, unpack and the way of the rows are those of
// decode.hip.hpp.
//
// A lane has the half of a feature's k that the matrix unit would have given it, so that its sums
// are half of the feature's: the halves meet at the end. The sixteen lanes of a half read the same
// bytes of a row, which LDS gives to all of them at once.
#pragma once

#include "kernels/gfx1201/decode.hip.hpp"
#include "kernels/gfx1201/lanes.hip.hpp"

namespace radiance::gfx1201 {

RADIANCE_DEVICE float dot(u32 a, u32 b, float sum) {
  return __builtin_amdgcn_dot4_f32_fp8_fp8(a, b, sum);
}

template <int kRows>
RADIANCE_DEVICE void decode_dot(const GemmParams& p) {
  constexpr u32 kBufferBytes = kRowTileBytes;
  RADIANCE_SHARED static u8 rows[2 * kBufferBytes] __attribute__((aligned(16)));

  const u32 lane = thread_index() % kWave;
  const u32 own_tile = block_x() * kWaves + wave_index();
  const u32 last_tile = static_cast<u32>(p.tiles) - 1;
  const u32 tile = own_tile < last_tile ? own_tile : last_tile;
  const u32 slabs = static_cast<u32>(p.slabs);

  GlobalBytes codes = global_bytes(p.codes) + static_cast<i64>(tile) * slabs * kTileBytes;
  GlobalBytes scales = global_bytes(p.scales) + static_cast<i64>(tile) * slabs * (kTileN * 2);
  GlobalBytes xq = global_bytes(p.xq);
  RowMover<1> mover(p);
  u32 code_offset = lane * 16, scale_offset = lane % 16 * 2;

  RowShare<1> share;
  u32x4 words[2];
  ScaleRun<1> scale_run;
  const auto load_slab = [&] {
    keep_scalar(xq);
    keep_scalar(codes);
    keep_scalar(scales);
    scale_run = load_at<ScaleRun<1>>(scales, scale_offset);
    schedule_barrier();
    mover.load(xq, share);
    words[0] = load_at<u32x4>(codes, code_offset);
    words[1] = load_at<u32x4>(codes, code_offset, kTileBytes / 2);
  };

  float sum[kRows] = {};
  u32 buffer = 0;
  load_slab();
  mover.store(rows, share);
  lds_arrive();
  for (u32 slab = 0; slab < slabs; ++slab) {
    u32x2 weights[kSteps];
#pragma unroll
    for (int step = 0; step < kSteps; ++step) {
      weights[step] = unpack_signed(words[step / 4][step % 4]);
    }
    const float scale = scale_run.value(0);
    schedule_barrier();
    // The last slab loads itself again.
    const u32 step_on = slab + 1 < slabs ? 1 : 0;
    codes += step_on * kTileBytes;
    scales += step_on * (kTileN * 2);
    xq += step_on * kSlabK;
    load_slab();
    lds_await();

    const u8* operands = rows + buffer + lane / 16 * 256;
#pragma unroll
    for (int r = 0; r < kRows; ++r) {
      // Two chains: a sum waits five clocks for the one before it.
      float even = 0, odd = 0;
#pragma unroll
      for (int pair = 0; pair < kSteps / 2; ++pair) {
        const u32x4 a = *reinterpret_cast<const u32x4*>(operands + pair * 512 + r * 16);
        even = dot(a.x, weights[2 * pair].x, even);
        odd = dot(a.y, weights[2 * pair].y, odd);
        even = dot(a.z, weights[2 * pair + 1].x, even);
        odd = dot(a.w, weights[2 * pair + 1].y, odd);
      }
      sum[r] = __builtin_fmaf(even + odd, scale, sum[r]);
    }
    buffer ^= kBufferBytes;
    mover.store(rows + buffer, share);
    lds_arrive();
  }
  lds_await();

#pragma unroll
  for (int r = 0; r < kRows; ++r) {
    sum[r] += float_from_bits(exchange_rows(float_bits(sum[r])));
  }
  const i32 column = static_cast<i32>(own_tile * kTileN);
  if (lane >= 16 || column + lane_column() >= p.n) return;
  const float bias = load_bias(p, column + lane_column());
#pragma unroll
  for (int r = 0; r < kRows; ++r) {
    if (r >= p.m) return;
    const float scale = p.x_scales[r] * (1.0f / kSignedUnit);
    store_behind(p, r * p.ldy + column, lane, __builtin_fmaf(sum[r], scale, bias));
  }
}

}  // namespace radiance::gfx1201
