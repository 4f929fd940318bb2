// Many tokens: tiles of 256 features by 128 tokens, one block a multiprocessor, tile after tile.
//
// A producer warp brings slabs of 128 k: the tokens' by the tensor copy engine, the weights' by bulk
// copies. Two warpgroups take 128 features each, in two halves of 64: a half is unpacked to A
// fragments, multiplied (m64n128k32) and its group's sums promoted to fp32 with the scale, while the
// other warpgroup keeps the tensor cores busy. 64 running sums a half, 64 of the group: 192 registers
// of sums, which is why a block has only two such warpgroups.
//
// Per slab a tile moves 33 KB for 1024 clocks of multiplication. Neighbouring blocks take the same
// features and other tokens, so that the weights come from L2.
#include "kernels/sm90/output.cuh"
#include "kernels/sm90/ptx.cuh"
#include "kernels/sm90/weights.cuh"
#include "kernels/sm90/wgmma.cuh"

namespace radiance::sm90 {
namespace {

struct TensorMap {
  alignas(64) uint64_t opaque[16];
};

constexpr int kMaxStages = 8;
constexpr int kSums = kPrefillTokens / 2;  // registers of a 64 x 128 tile

struct Barriers {
  uint64_t full[kMaxStages];
  uint64_t empty[kMaxStages];
};

template <ScaleKind kind>
struct Prefill {
  static constexpr int kStages = prefill_stages(kind);
  static constexpr int kStageBytes = prefill_stage_bytes(kind);
  static constexpr int kXBytes = kPrefillTokens * kSlabK;
  static constexpr int kUnit = unit_bytes(kind);
  static_assert(kStages >= 3 && kStages <= kMaxStages);

  struct Tiles {
    int along_m, count;
    __device__ explicit Tiles(const GemmParams& p)
        : along_m((p.m + kPrefillTokens - 1) / kPrefillTokens),
          count(along_m * ((p.n + kPrefillN - 1) / kPrefillN)) {}
  };

  static __device__ void produce(const TensorMap& x_map, const GemmParams& p, const Tiles& tiles,
                                 uint8_t* stages, Barriers* barriers) {
    const uint64_t policy = evict_normal_policy();
    const int tiles64 = (p.n + kTileN - 1) / kTileN;
    int stage = 0;
    uint32_t phase = 1;  // the first turn finds empty stages
    wait_for_previous_kernel();
    for (int tile = blockIdx.x; tile < tiles.count; tile += gridDim.x) {
      const int m0 = tile % tiles.along_m * kPrefillTokens;
      const int first = tile / tiles.along_m * 4;  // of the tile's four units of 64 features
      const int here = min(4, tiles64 - first);
      for (int slab = 0; slab < p.slabs; ++slab) {
        barrier_wait(&barriers->empty[stage], phase);
        uint8_t* to = stages + stage * kStageBytes;
        barrier_expect(&barriers->full[stage], kXBytes + here * kUnit);
        copy_tile(to, &x_map, slab * kSlabK, m0, &barriers->full[stage]);
        for (int w = 0; w < here; ++w) {
          const int64_t index = static_cast<int64_t>(first + w) * p.slabs + slab;
          copy_bulk(to + kXBytes + w * kUnit, p.units + index * kUnit, kUnit,
                    &barriers->full[stage], policy);
        }
        if (++stage == kStages) {
          stage = 0;
          phase ^= 1;
        }
      }
    }
  }

  struct Fragments {
    uint32_t a[4][4];
  };

  // Multiplies one half (64 features) over a slab; `meanwhile` runs while the tensor cores do.
  template <typename Meanwhile>
  static __device__ __forceinline__ void multiply(uint64_t descriptor, const uint8_t* unit,
                                                  int thread, const Fragments& f,
                                                  float (&total)[kSums], Meanwhile&& meanwhile) {
    constexpr int parts = scales_per_slab(kind);
    constexpr int steps = 4 / parts;
    const int feature = thread / 32 * 16 + thread % 32 / 4;
#pragma unroll
    for (int part = 0; part < parts; ++part) {
      float sum[kSums];
      pin(sum);
      warpgroup_arrive();
#pragma unroll
      for (int s = 0; s < steps; ++s) {
        Wgmma<kPrefillTokens>::run(sum, f.a[part * steps + s],
                                   descriptor + (part * steps + s) * kDescriptorStep, s != 0);
      }
      warpgroup_commit();
      const float low = load_scale<kind>(unit, part, feature);
      const float high = load_scale<kind>(unit, part, feature + 8);
      if (part == 0) meanwhile();
      warpgroup_wait<0>();
      pin(sum);
#pragma unroll
      for (int i = 0; i < kSums; ++i) {
        total[i] = fmaf(sum[i], (i & 2) != 0 ? high : low, total[i]);
      }
    }
  }

  // 16-bit results go through shared memory, transposed on the way: rows of 256 features a token.
  static __device__ __forceinline__ void stage_output(const GemmParams& p, int m0, int n0,
                                                      int feature0, int thread, uint16_t* output,
                                                      const float (&total)[kSums]) {
    const int row = feature0 + thread / 32 * 16;
    const int lane = thread % 32;
    const float bias[2] = {load_bias(p, n0 + row + lane / 4), load_bias(p, n0 + row + lane / 4 + 8)};
#pragma unroll
    for (int j = 0; j < kSums / 4; ++j) {
      const int m = m0 + 8 * j + lane % 4 * 2;
      const float s0 = m < p.m ? p.x_scales[m] : 0.0f;
      const float s1 = m + 1 < p.m ? p.x_scales[m + 1] : 0.0f;
      uint32_t packed[2];
#pragma unroll
      for (int h = 0; h < 2; ++h) {
        const float y0 = fmaf(total[4 * j + 2 * h], s0, bias[h]);
        const float y1 = fmaf(total[4 * j + 2 * h + 1], s1, bias[h]);
        packed[h] = p.y_type == kBf16 ? to_bf16(y0) | static_cast<uint32_t>(to_bf16(y1)) << 16
                                      : to_f16(y0) | static_cast<uint32_t>(to_f16(y1)) << 16;
      }
      // Two 8 x 8 matrices of (feature, token), stored as (token, feature). 16-byte pieces of a row
      // are permuted by the token so that the eight rows of a matrix fall into different banks.
      const int token = 8 * j + lane % 8;
      const int piece = (row / 8 + lane / 8 % 2) ^ (token % 8);
      const uint32_t address = shared_address(output + token * kPrefillN + piece * 8);
      asm volatile("stmatrix.sync.aligned.m8n8.x2.trans.shared.b16 [%0], {%1, %2};" ::"r"(address),
                   "r"(packed[0]), "r"(packed[1])
                   : "memory");
    }
  }

  static __device__ void copy_output(const GemmParams& p, int m0, int n0, int thread,
                                     const uint16_t* output) {
    auto* y = static_cast<uint16_t*>(p.y);
    const bool wide = p.ldy % 8 == 0 && reinterpret_cast<uintptr_t>(p.y) % 16 == 0;
    for (int i = thread; i < kPrefillTokens * kPrefillN / 8; i += 256) {
      const int token = i / (kPrefillN / 8), piece = i % (kPrefillN / 8);
      const int m = m0 + token, n = n0 + piece * 8;
      if (m >= p.m || n >= p.n) continue;
      const uint16_t* from = output + token * kPrefillN + (piece ^ (token % 8)) * 8;
      uint16_t* to = y + m * p.ldy + n;
      if (wide && n + 8 <= p.n) {
        *reinterpret_cast<uint4*>(to) = *reinterpret_cast<const uint4*>(from);
      } else {
        for (int e = 0; e < 8 && n + e < p.n; ++e) to[e] = from[e];
      }
    }
  }

  static __device__ void store_f32(const GemmParams& p, int m0, int n0, int thread,
                                   const float (&total)[kSums]) {
    const int row = n0 + thread / 32 * 16 + thread % 32 / 4;
    const float bias[2] = {load_bias(p, row), load_bias(p, row + 8)};
#pragma unroll
    for (int i = 0; i < kSums; ++i) {
      const int m = m0 + i / 4 * 8 + thread % 4 * 2 + (i & 1);
      const int n = row + ((i & 2) != 0 ? 8 : 0);
      if (m < p.m && n < p.n) {
        static_cast<float*>(p.y)[m * p.ldy + n] =
            fmaf(total[i], p.x_scales[m], bias[(i & 2) != 0]);
      }
    }
  }

  static __device__ void consume(const GemmParams& p, const Tiles& tiles, const uint8_t* stages,
                                 uint16_t* output, Barriers* barriers) {
    const int warpgroup = threadIdx.x / 128, thread = threadIdx.x % 128;
    wait_for_previous_kernel();
    int stage = 0;
    uint32_t phase = 0;
    for (int tile = blockIdx.x; tile < tiles.count; tile += gridDim.x) {
      const int m0 = tile % tiles.along_m * kPrefillTokens;
      const int n0 = tile / tiles.along_m * kPrefillN;
      float total[2][kSums];
#pragma unroll
      for (int i = 0; i < kSums; ++i) total[0][i] = total[1][i] = 0;
      Fragments first, second;
      barrier_wait(&barriers->full[stage], phase);
      load_fragments<kind>(stages + stage * kStageBytes + kXBytes + 2 * warpgroup * kUnit, thread,
                           first.a);
      for (int slab = 0; slab < p.slabs; ++slab) {
        const uint8_t* at = stages + stage * kStageBytes;
        const uint64_t descriptor = tile_descriptor(at);
        const uint8_t* units = at + kXBytes + 2 * warpgroup * kUnit;
        uint64_t* empty = &barriers->empty[stage];
        if (++stage == kStages) {
          stage = 0;
          phase ^= 1;
        }
        multiply(descriptor, units, thread, first, total[0], [&] {
          load_fragments<kind>(units + kUnit, thread, second.a);
        });
        multiply(descriptor, units + kUnit, thread, second, total[1], [&] {
          if (slab + 1 == p.slabs) return;
          barrier_wait(&barriers->full[stage], phase);
          load_fragments<kind>(stages + stage * kStageBytes + kXBytes + 2 * warpgroup * kUnit,
                               thread, first.a);
        });
        if (thread % 32 == 0) barrier_arrive(empty);
      }
      const int feature0 = warpgroup * 128;
      if (p.y_type == kF32) {
        store_f32(p, m0, n0 + feature0, thread, total[0]);
        store_f32(p, m0, n0 + feature0 + 64, thread, total[1]);
      } else {
        named_barrier(1, 256);  // the last tile's output has left
        stage_output(p, m0, n0, feature0, thread, output, total[0]);
        stage_output(p, m0, n0, feature0 + 64, thread, output, total[1]);
        named_barrier(1, 256);
        copy_output(p, m0, n0, threadIdx.x, output);
      }
    }
  }

  static __device__ void run(const TensorMap& x_map, const GemmParams& p) {
    // Aligned by declaration: an address rounded up by hand turns every access into a generic one,
    // which took decode from 1600 clocks a unit to what it is now.
    extern __shared__ __align__(1024) uint8_t stages[];
    auto* output = reinterpret_cast<uint16_t*>(stages + kStages * kStageBytes);
    auto* barriers =
        reinterpret_cast<Barriers*>(reinterpret_cast<uint8_t*>(output) + kPrefillOutputBytes);
    if (threadIdx.x == 0) {
      for (int s = 0; s < kStages; ++s) {
        barrier_init(&barriers->full[s], 1);
        barrier_init(&barriers->empty[s], 8);
      }
      fence_barrier_init();
    }
    __syncthreads();
    const Tiles tiles(p);
    if (threadIdx.x >= 256) {
      give_registers<24>();
      if (threadIdx.x == 256) produce(x_map, p, tiles, stages, barriers);
    } else {
      take_registers<240>();
      consume(p, tiles, stages, output, barriers);
    }
  }
};

}  // namespace

#define RADIANCE_PREFILL(name, kind)                                                   \
  extern "C" __global__ void __launch_bounds__(kPrefillThreads, 1) name(               \
      const __grid_constant__ TensorMap x_map, const __grid_constant__ GemmParams p) { \
    Prefill<kind>::run(x_map, p);                                                      \
  }

RADIANCE_PREFILL(prefill_slab, ScaleKind::kSlab)
RADIANCE_PREFILL(prefill_half, ScaleKind::kHalf)
RADIANCE_PREFILL(prefill_step, ScaleKind::kStep)
RADIANCE_PREFILL(prefill_e8m0, ScaleKind::kE8m0)

}  // namespace radiance::sm90
