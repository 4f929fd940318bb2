// Few tokens (up to 64): the weights' stream is all that costs, so everything serves it.
//
// One block a multiprocessor. A producer thread keeps about 200 KB of bulk copies in flight; four
// warpgroups unpack units of 64 features by a slab into A fragments and multiply them with the
// tokens' slab, which is the N side of wgmma. A group's sum is promoted to fp32 before the next is
// begun: the tensor cores keep about 14 bits while they add. A unit is unpacked while the one before
// it is multiplied.
//
// The blocks share the units evenly, in one line along k and then n (stream-K). A tile whose slabs
// lie in several blocks is finished by the last of them to arrive, which adds the partial sums in the
// order of k: the same bits whoever comes last. A block does its shared tiles first and its own last,
// so that the kernel does not end in a wait. Producers start on the weights while the quantization
// that they depend on still runs.
#include "kernels/sm90/output.cuh"
#include "kernels/sm90/ptx.cuh"
#include "kernels/sm90/weights.cuh"
#include "kernels/sm90/wgmma.cuh"

namespace radiance::sm90 {
namespace {

struct TensorMap {
  alignas(64) uint64_t opaque[16];
};

constexpr int kMaxStages = 48;

struct Barriers {
  uint64_t full[kMaxStages];
  uint64_t empty[kMaxStages];
  uint32_t last[kDecodeWarpgroups];
};

// The line of (tile, slab) places: block b does begin(b) .. begin(b + 1) - 1.
struct Line {
  int slabs, places, blocks;
  __device__ int begin(int block) const {
    const int each = places / blocks, more = places % blocks;
    return block * each + min(block, more);
  }
};

// The tiles of a block: f(tile, first slab, slabs) for each, the shared ones first.
template <typename F>
__device__ __forceinline__ void for_each_segment(const Line& line, F&& f) {
  const int begin = line.begin(blockIdx.x), end = line.begin(blockIdx.x + 1);
  const int tile = begin / line.slabs, slab = begin % line.slabs;
  int from = begin, to = end;
  if (slab != 0 || end - begin < line.slabs) {
    const int here = min(line.slabs - slab, end - begin);
    if (here > 0) f(tile, slab, here);
    from += here;
  }
  const int rest = end % line.slabs;
  if (from < end && rest != 0) {
    f(end / line.slabs, 0, rest);
    to -= rest;
  }
  for (; from < to; from += line.slabs) f(from / line.slabs, 0, line.slabs);
}

// A place in the ring of stages.
template <int stages>
struct Ring {
  int stage = 0;
  uint32_t phase = 0;
  __device__ void advance(int by) {
    stage += by;
    if (stage >= stages) {
      stage -= stages;
      phase ^= 1;
    }
  }
};

template <ScaleKind kind, int tokens>
struct Decode {
  static constexpr int kTileUnits = decode_tile_units(tokens);
  static constexpr int kTurns = kDecodeWarpgroups / kTileUnits;  // warpgroups that share a tile
  static constexpr int kStages = decode_stages(kind, tokens);
  static constexpr int kStageBytes = decode_stage_bytes(kind, tokens);
  static constexpr int kXBytes = tokens * kSlabK;
  static constexpr int kUnit = unit_bytes(kind);
  static constexpr int kSums = tokens / 2;  // registers of a 64 x tokens tile
  static constexpr int kParts = scales_per_slab(kind);
  // Two sets of fragments beside the sums do not fit 112 registers from 32 tokens on.
  static constexpr bool kPipelined = tokens <= 16;
  static_assert(kStages >= 4 && kStages <= kMaxStages);

  static __device__ void produce(const TensorMap& x_map, const GemmParams& p, const Line& line,
                                 uint8_t* stages, Barriers* barriers) {
    const uint64_t policy = evict_first_policy();
    const int units = (p.n + kTileN - 1) / kTileN;
    const auto weights = [&](int tile, int slab, int stage) {
      uint8_t* to = stages + stage * kStageBytes + kXBytes;
      // The last tile may lack units: what is read in their place is old and never stored.
      const int here = min(kTileUnits, units - tile * kTileUnits);
      barrier_expect(&barriers->full[stage], kXBytes + here * kUnit);
      for (int w = 0; w < here; ++w) {
        const int64_t index = static_cast<int64_t>(tile * kTileUnits + w) * p.slabs + slab;
        copy_bulk(to + w * kUnit, p.units + index * kUnit, kUnit, &barriers->full[stage], policy);
      }
    };
    const auto tokens_of = [&](int slab, int stage) {
      copy_tile(stages + stage * kStageBytes, &x_map, slab * kSlabK, 0, &barriers->full[stage]);
    };
    // The weights of the first turn of the ring do not depend on the activations.
    int ahead = 0;
    for_each_segment(line, [&](int tile, int slab, int count) {
      for (int i = 0; i < count && ahead < kStages; ++i, ++ahead) weights(tile, slab + i, ahead);
    });
    wait_for_previous_kernel();
    Ring<kStages> ring;
    ring.phase = 1;
    int done = 0;
    for_each_segment(line, [&](int tile, int slab, int count) {
      for (int i = 0; i < count; ++i, ++done) {
        if (done >= ahead) {
          barrier_wait(&barriers->empty[ring.stage], ring.phase);
          weights(tile, slab + i, ring.stage);
        }
        tokens_of(slab + i, ring.stage);
        ring.advance(1);
      }
    });
  }

  struct Fragments {
    uint32_t a[4][4];
    float scale[kParts][2];
  };

  static __device__ __forceinline__ void load(const uint8_t* unit, int thread, Fragments& f) {
    load_fragments<kind>(unit, thread, f.a);
    const int feature = thread / 32 * 16 + thread % 32 / 4;
#pragma unroll
    for (int part = 0; part < kParts; ++part) {
      f.scale[part][0] = load_scale<kind>(unit, part, feature);
      f.scale[part][1] = load_scale<kind>(unit, part, feature + 8);
    }
  }

  // Multiplies one unit; `meanwhile` runs while the tensor cores do.
  template <typename Meanwhile>
  static __device__ __forceinline__ void multiply(uint64_t descriptor, const Fragments& f,
                                                  float (&total)[kSums], Meanwhile&& meanwhile) {
    constexpr int steps = 4 / kParts;
#pragma unroll
    for (int part = 0; part < kParts; ++part) {
      float sum[kSums];
      pin(sum);
      warpgroup_arrive();
#pragma unroll
      for (int s = 0; s < steps; ++s) {
        Wgmma<tokens>::run(sum, f.a[part * steps + s],
                           descriptor + (part * steps + s) * kDescriptorStep, s != 0);
      }
      warpgroup_commit();
      if (part == 0) meanwhile();
      warpgroup_wait<0>();
      pin(sum);
#pragma unroll
      for (int i = 0; i < kSums; ++i) {
        total[i] = fmaf(sum[i], f.scale[part][(i & 2) != 0], total[i]);
      }
    }
  }

  static __device__ void store(const GemmParams& p, int n0, int thread,
                               const float (&total)[kSums]) {
    const int row = n0 + thread / 32 * 16 + thread % 32 / 4;
    const float bias[2] = {load_bias(p, row), load_bias(p, row + 8)};
#pragma unroll
    for (int i = 0; i < kSums; ++i) {
      const int m = i / 4 * 8 + thread % 4 * 2 + (i & 1);
      const int n = row + ((i & 2) != 0 ? 8 : 0);
      if (m < p.m && n < p.n) {
        const float y = fmaf(total[i], p.x_scales[m], bias[(i & 2) != 0]);
        store_element(p.y, p.y_type, m * p.ldy + n, y);
      }
    }
  }

  // A block's slot for a shared tile: its first may have begun before it, its last may go on.
  static __device__ float* slot(const GemmParams& p, const Line& line, int block, int tile,
                                int unit) {
    const int which = tile == line.begin(block) / line.slabs ? 0 : 1;
    return p.partials + ((static_cast<int64_t>(block) * 2 + which) * kTileUnits + unit) *
                            (kSums * 128);
  }

  // A tile that several blocks share: the last to arrive adds the parts in the order of k and stores.
  static __device__ void reduce(const GemmParams& p, const Line& line, int tile, int slabs_here,
                                int unit, int thread, Barriers* barriers, float (&total)[kSums]) {
    uint32_t* counter = p.counters + tile * kTileUnits + unit;
    const auto all = static_cast<uint32_t>(line.slabs);
    // If everybody else is done, these sums need not leave the registers.
    if (thread == 0) {
      uint32_t seen;
      asm volatile("ld.acquire.gpu.u32 %0, [%1];" : "=r"(seen) : "l"(counter) : "memory");
      barriers->last[unit] = seen + slabs_here == all;
    }
    named_barrier(1 + unit, 128);
    bool last = barriers->last[unit] != 0;
    named_barrier(1 + unit, 128);
    if (!last) {
      float* mine = slot(p, line, blockIdx.x, tile, unit);
#pragma unroll
      for (int i = 0; i < kSums; ++i) __stcg(mine + i * 128 + thread, total[i]);
      __threadfence();
      named_barrier(1 + unit, 128);
      if (thread == 0) {
        barriers->last[unit] = atomicAdd(counter, slabs_here) + slabs_here == all;
      }
      named_barrier(1 + unit, 128);
      last = barriers->last[unit] != 0;
      if (!last) return;
    }
    if (thread == 0) *counter = 0;
    __threadfence();
    int block = blockIdx.x;
    while (line.begin(block) > tile * line.slabs) --block;
    float sum[kSums];
#pragma unroll
    for (int i = 0; i < kSums; ++i) sum[i] = 0;
#pragma unroll 4
    for (; block < line.blocks && line.begin(block) < (tile + 1) * line.slabs; ++block) {
      const float* part = slot(p, line, block, tile, unit);
      const bool own = block == static_cast<int>(blockIdx.x);
#pragma unroll
      for (int i = 0; i < kSums; ++i) {
        sum[i] += own ? total[i] : __ldcg(part + i * 128 + thread);
      }
    }
    store(p, (tile * kTileUnits + unit) * kTileN, thread, sum);
  }

  // Adds the sums of the warpgroups that took turns at a tile, in their order, in the first of them.
  static __device__ __forceinline__ void gather(float* exchange, int turn, int unit, int thread,
                                                float (&total)[kSums]) {
    if constexpr (kTurns > 1) {
      float* mine = exchange + ((turn - 1) * kTileUnits + unit) * (kSums * 128);
      if (turn > 0) {
#pragma unroll
        for (int i = 0; i < kSums; ++i) mine[i * 128 + thread] = total[i];
      }
      named_barrier(8 + unit, kTurns * 128);
      if (turn == 0) {
#pragma unroll
        for (int t = 1; t < kTurns; ++t) {
          const float* other = exchange + ((t - 1) * kTileUnits + unit) * (kSums * 128);
#pragma unroll
          for (int i = 0; i < kSums; ++i) total[i] += other[i * 128 + thread];
        }
      }
      named_barrier(8 + unit, kTurns * 128);
    }
  }

  static __device__ void consume(const GemmParams& p, const Line& line, const uint8_t* stages,
                                 float* exchange, Barriers* barriers) {
    const int warpgroup = threadIdx.x / 128, thread = threadIdx.x % 128;
    const int unit = warpgroup % kTileUnits, turn = warpgroup / kTileUnits;
    wait_for_previous_kernel();
    Ring<kStages> ring;
    ring.advance(turn);
    int next_turn = 0;  // whose turn the segment's first place is
    for_each_segment(line, [&](int tile, int, int slabs_here) {
      float total[kSums];
#pragma unroll
      for (int i = 0; i < kSums; ++i) total[i] = 0;
      // This warpgroup's places of the segment: every kTurns'th.
      const int first = (turn - next_turn + kTurns) % kTurns;
      const int mine = first < slabs_here ? (slabs_here - first + kTurns - 1) / kTurns : 0;
      next_turn = (next_turn + slabs_here) % kTurns;

      const auto arrive_at = [&](const Ring<kStages>& at, Fragments& f) {
        barrier_wait(&barriers->full[at.stage], at.phase);
        load(stages + at.stage * kStageBytes + kXBytes + unit * kUnit, thread, f);
      };
      const auto step = [&](const Fragments& now, Fragments& then, bool more) {
        Ring<kStages> after = ring;
        after.advance(kTurns);
        multiply(tile_descriptor(stages + ring.stage * kStageBytes), now, total, [&] {
          if (more) arrive_at(after, then);
        });
        if (thread % 32 == 0) barrier_arrive(&barriers->empty[ring.stage]);
        ring = after;
      };
      if constexpr (kPipelined) {
        Fragments even, odd;
        if (mine > 0) arrive_at(ring, even);
        for (int i = 0; i < mine; i += 2) {
          step(even, odd, i + 1 < mine);
          if (i + 1 < mine) step(odd, even, i + 2 < mine);
        }
      } else {
        for (int i = 0; i < mine; ++i) {
          Fragments now;
          arrive_at(ring, now);
          step(now, now, false);
        }
      }

      gather(exchange, turn, unit, thread, total);
      const int n0 = (tile * kTileUnits + unit) * kTileN;
      if (turn != 0 || n0 >= p.n) return;
      if (slabs_here == line.slabs) {
        store(p, n0, thread, total);
      } else {
        reduce(p, line, tile, slabs_here, unit, thread, barriers, total);
      }
    });
  }

  static __device__ void run(const TensorMap& x_map, const GemmParams& p) {
    // Aligned by declaration: an address rounded up by hand turns every access into a generic one,
    // which took decode from 1600 clocks a unit to what it is now.
    extern __shared__ __align__(1024) uint8_t stages[];
    auto* exchange = reinterpret_cast<float*>(stages + kStages * kStageBytes);
    auto* barriers = reinterpret_cast<Barriers*>(stages + kStages * kStageBytes +
                                                 decode_reduce_bytes(tokens));
    if (threadIdx.x == 0) {
      for (int s = 0; s < kStages; ++s) {
        barrier_init(&barriers->full[s], 1);
        barrier_init(&barriers->empty[s], kTileUnits * 4);
      }
      fence_barrier_init();
    }
    __syncthreads();
    const int tiles = (p.n + kTileUnits * kTileN - 1) / (kTileUnits * kTileN);
    const Line line = {p.slabs, tiles * p.slabs, static_cast<int>(gridDim.x)};
    if (threadIdx.x >= 128 * kDecodeWarpgroups) {
      give_registers<24>();
      if (threadIdx.x == 128 * kDecodeWarpgroups) produce(x_map, p, line, stages, barriers);
    } else {
      take_registers<112>();
      consume(p, line, stages, exchange, barriers);
    }
  }
};

}  // namespace

#define RADIANCE_DECODE(name, kind, tokens)                                    \
  extern "C" __global__ void __launch_bounds__(kDecodeThreads, 1) name(        \
      const __grid_constant__ TensorMap x_map, const __grid_constant__ GemmParams p) { \
    Decode<kind, tokens>::run(x_map, p);                                       \
  }

RADIANCE_DECODE(decode_slab_8, ScaleKind::kSlab, 8)
RADIANCE_DECODE(decode_slab_16, ScaleKind::kSlab, 16)
RADIANCE_DECODE(decode_slab_32, ScaleKind::kSlab, 32)
RADIANCE_DECODE(decode_slab_64, ScaleKind::kSlab, 64)
RADIANCE_DECODE(decode_half_8, ScaleKind::kHalf, 8)
RADIANCE_DECODE(decode_half_16, ScaleKind::kHalf, 16)
RADIANCE_DECODE(decode_half_32, ScaleKind::kHalf, 32)
RADIANCE_DECODE(decode_half_64, ScaleKind::kHalf, 64)
RADIANCE_DECODE(decode_step_8, ScaleKind::kStep, 8)
RADIANCE_DECODE(decode_step_16, ScaleKind::kStep, 16)
RADIANCE_DECODE(decode_step_32, ScaleKind::kStep, 32)
RADIANCE_DECODE(decode_step_64, ScaleKind::kStep, 64)
RADIANCE_DECODE(decode_e8m0_8, ScaleKind::kE8m0, 8)
RADIANCE_DECODE(decode_e8m0_16, ScaleKind::kE8m0, 16)
RADIANCE_DECODE(decode_e8m0_32, ScaleKind::kE8m0, 32)
RADIANCE_DECODE(decode_e8m0_64, ScaleKind::kE8m0, 64)

}  // namespace radiance::sm90
