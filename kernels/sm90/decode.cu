// Few tokens (up to 64): the weights' stream is all that costs, so everything serves it.
//
// One block a multiprocessor. Producer warps keep its shared memory full of bulk copies in flight;
// warpgroups unpack units of 64 features by a slab into A fragments and multiply them with the
// tokens' slab, which is the N side of wgmma. A group's sum is promoted to fp32 before the next is
// begun: the tensor cores keep about 14 bits while they add.
//
// The blocks share the units evenly, in one line along k and then n (stream-K). A tile whose slabs
// lie in several blocks is finished by the last of these, which adds the sums of those before it in
// the order of k: the same bits however the blocks run. It waits only for blocks of lower numbers,
// which are dispatched before it, so the wait ends. Nobody stands still for that: a block begins
// with what others wait for, a warp of its own announces it (a fence and an atomic, 1.5 us on an
// H200 that the multiplying warps spent waiting before), and what a block finishes for others comes
// before its last own tile.
//
// The next kernel is let in at once: its blocks take the other half of each multiprocessor and fill
// their stages with weights, which depend on nothing, while this one still runs, so that memory
// does not idle between kernels. Everything else waits until all kernels before have ended.
#include "kernels/sm90/output.cuh"
#include "kernels/sm90/ptx.cuh"
#include "kernels/sm90/weights.cuh"
#include "kernels/sm90/wgmma.cuh"

namespace radiance::sm90 {
namespace {

struct TensorMap {
  alignas(64) uint64_t opaque[16];
};

constexpr int kMaxStages = 24;
constexpr int kScalesBarrier = 15;

struct Barriers {
  uint64_t full[kMaxStages];
  uint64_t empty[kMaxStages];
  uint64_t contributed[4];  // a unit's sums are written, for another block
};

struct Shared {
  Barriers barriers;
  float x_scales[64];
};

// The line of (tile, slab) places: block b does begin(b) .. begin(b + 1) - 1.
struct Line {
  int slabs, blocks, each, more;
  __device__ Line(int tiles, int slabs_of_tile, int blocks_of_grid)
      : slabs(slabs_of_tile),
        blocks(blocks_of_grid),
        each(tiles * slabs_of_tile / blocks_of_grid),
        more(tiles * slabs_of_tile % blocks_of_grid) {}
  __device__ int begin(int block) const { return block * each + min(block, more); }
};

// A run of slabs of one tile.
struct Segment {
  int tile, slab, slabs;
  bool whole;  // the tile
  bool ends;   // it: the sums of its other slabs are added to this segment's
};

// The segments of a block: f(segment) for each. First what another block waits for, then what waits
// for others, then whole tiles.
template <typename F>
__device__ __forceinline__ void for_each_segment(const Line& line, F&& f) {
  const int begin = line.begin(blockIdx.x), end = line.begin(blockIdx.x + 1);
  const int first = begin / line.slabs, slab = begin % line.slabs;
  const int last = end / line.slabs, rest = end % line.slabs;
  if (first == last) {
    if (begin < end) f(Segment{first, slab, end - begin, false, false});
    return;
  }
  if (rest != 0) f(Segment{last, 0, rest, false, false});
  if (slab != 0) f(Segment{first, slab, line.slabs - slab, false, true});
  for (int tile = first + (slab != 0); tile < last; ++tile) {
    f(Segment{tile, 0, line.slabs, true, true});
  }
}

// The tile to which a block contributes sums that another finishes; -1 if none.
__device__ __forceinline__ int contributed_tile(const Line& line) {
  const int end = line.begin(blockIdx.x + 1);
  return end % line.slabs == 0 ? -1 : end / line.slabs;
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
  static constexpr int kWarpgroups = decode_warpgroups(tokens);
  static constexpr int kTurns = kWarpgroups / kTileUnits;  // warpgroups that share a tile
  static constexpr int kStages = decode_stages(kind, tokens);
  static constexpr int kXBytes = tokens * kSlabK;  // a multiple of 1024: wgmma's swizzle
  static constexpr int kUnit = unit_bytes(kind);
  static constexpr int kUnitsBytes = kTileUnits * kUnit;
  static constexpr int kSums = tokens / 2;  // registers of a 64 x tokens tile
  static constexpr int kParts = scales_per_slab(kind);
  // Tokens of one multiplication: all 64 at once need 32 registers more, and spill.
  static constexpr int kPassTokens = tokens < 32 ? tokens : 32;
  static constexpr int kPassSums = kPassTokens / 2;
  static constexpr uint64_t kPassDescriptorStep = kPassTokens * kSlabK >> 4;
  static_assert(kStages >= 2 * kTurns && kStages <= kMaxStages);
  static_assert(kStages % kDecodeProducers == 0);
  static_assert(sizeof(Shared) <= kDecodeBarrierBytes);

  // The stages: the tokens' slabs, then the units.
  static __device__ __forceinline__ const uint8_t* x_of(const uint8_t* stages, int stage) {
    return stages + stage * kXBytes;
  }
  static __device__ __forceinline__ uint8_t* units_of(uint8_t* stages, int stage) {
    return stages + kStages * kXBytes + stage * kUnitsBytes;
  }

  // Producer warps take the stages in turn: one of them alone needs 250 to 300 clocks for a stage's
  // waits and copies, as long as memory for its 4 KB.
  static __device__ void produce(const TensorMap& x_map, const GemmParams& p, const Line& line,
                                 int producer, uint8_t* stages, Barriers* barriers) {
    const uint64_t policy = evict_first_policy();
    const int units = (p.n + kTileN - 1) / kTileN;
    const auto weights = [&](int tile, int slab, int stage) {
      uint8_t* to = units_of(stages, stage);
      // The last tile may lack units: what is read in their place is old and never stored.
      const int here = min(kTileUnits, units - tile * kTileUnits);
      barrier_expect(&barriers->full[stage], kXBytes + here * kUnit);
      for (int w = 0; w < here; ++w) {
        const int64_t index = static_cast<int64_t>(tile * kTileUnits + w) * p.slabs + slab;
        copy_bulk(to + w * kUnit, p.units + index * kUnit, kUnit, &barriers->full[stage], policy);
      }
    };
    // f(tile, slab) for this producer's places.
    const auto for_each_place = [&](const auto& f) {
      int skip = producer;
      for_each_segment(line, [&](const Segment& s) {
        int i = skip;
        for (; i < s.slabs; i += kDecodeProducers) f(s.tile, s.slab + i);
        skip = i - s.slabs;
      });
    };
    // The weights of the first turn of the ring do not depend on the activations.
    int ahead = producer;
    for_each_place([&](int tile, int slab) {
      if (ahead >= kStages) return;
      weights(tile, slab, ahead);
      ahead += kDecodeProducers;
    });
    wait_for_previous_kernel();
    Ring<kStages> ring;
    ring.phase = 1;
    ring.advance(producer);
    int done = producer;
    for_each_place([&](int tile, int slab) {
      if (done >= kStages) {
        barrier_wait(&barriers->empty[ring.stage], ring.phase);
        weights(tile, slab, ring.stage);
      }
      copy_tile(stages + ring.stage * kXBytes, &x_map, slab * kSlabK, 0,
                &barriers->full[ring.stage]);
      ring.advance(kDecodeProducers);
      done += kDecodeProducers;
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

  static __device__ __forceinline__ void multiply(uint64_t descriptor, const Fragments& f,
                                                  float (&total)[kSums]) {
    constexpr int steps = 4 / kParts;
#pragma unroll
    for (int part = 0; part < kParts; ++part) {
#pragma unroll
      for (int pass = 0; pass < tokens / kPassTokens; ++pass) {
        float sum[kPassSums];
        pin(sum);
        warpgroup_arrive();
#pragma unroll
        for (int s = 0; s < steps; ++s) {
          Wgmma<kPassTokens>::run(
              sum, f.a[part * steps + s],
              descriptor + pass * kPassDescriptorStep + (part * steps + s) * kDescriptorStep,
              s != 0);
        }
        warpgroup_commit();
        warpgroup_wait<0>();
        pin(sum);
#pragma unroll
        for (int i = 0; i < kPassSums; ++i) {
          float& to = total[pass * kPassSums + i];
          to = fmaf(sum[i], f.scale[part][(i & 2) != 0], to);
        }
      }
    }
  }

  static __device__ void store(const GemmParams& p, const float* x_scales, int tile, int unit,
                               int thread, const float (&total)[kSums]) {
    const int row = (tile * kTileUnits + unit) * kTileN + thread / 32 * 16 + thread % 32 / 4;
    const float bias[2] = {load_bias(p, row), load_bias(p, row + 8)};
#pragma unroll
    for (int i = 0; i < kSums; ++i) {
      const int m = i / 4 * 8 + thread % 4 * 2 + (i & 1);
      const int n = row + ((i & 2) != 0 ? 8 : 0);
      if (m < p.m && n < p.n) {
        const float y = fmaf(total[i], x_scales[m], bias[(i & 2) != 0]);
        store_element(p.y, p.y_type, m * p.ldy + n, y);
      }
    }
  }

  // Where a block leaves sums of a unit: for another block, or for itself until it finishes the
  // tile.
  static __device__ float* slot(const GemmParams& p, int block, bool own, int unit) {
    return p.partials +
           ((static_cast<int64_t>(block) * 2 + own) * kTileUnits + unit) * (kSums * 128);
  }

  static __device__ __forceinline__ void leave(float* to, int thread, const float (&total)[kSums]) {
#pragma unroll
    for (int i = 0; i < kSums; ++i) __stcg(to + i * 128 + thread, total[i]);
  }

  // Adds the sums of a tile that ends in this block, and stores.
  static __device__ void finish(const GemmParams& p, const Line& line, const float* x_scales,
                                int tile, int unit, int thread) {
    uint32_t* counter = p.counters + tile * kTileUnits + unit;
    const int self = static_cast<int>(blockIdx.x);
    int first = self;
    while (line.begin(first) > tile * line.slabs) --first;
    if (thread == 0) {
      uint32_t seen;
      do {
        asm volatile("ld.acquire.gpu.u32 %0, [%1];" : "=r"(seen) : "l"(counter) : "memory");
      } while (seen != static_cast<uint32_t>(self - first));
      *counter = 0;
    }
    named_barrier(1 + unit, 128);
    float sum[kSums];
#pragma unroll
    for (int i = 0; i < kSums; ++i) sum[i] = 0;
    for (int block = first; block <= self; ++block) {
      const float* part = slot(p, block, block == self, unit);
#pragma unroll
      for (int i = 0; i < kSums; ++i) sum[i] += __ldcg(part + i * 128 + thread);
    }
    store(p, x_scales, tile, unit, thread, sum);
  }

  // Tells the block that finishes the tile.
  static __device__ void announce(const GemmParams& p, const Line& line, Barriers* barriers) {
    const int tile = contributed_tile(line);
    if (tile < 0) return;
    for (int unit = 0; unit < kTileUnits; ++unit) {
      if ((tile * kTileUnits + unit) * kTileN >= p.n) return;
      barrier_wait(&barriers->contributed[unit], 0);
      __threadfence();
      atomicAdd(p.counters + tile * kTileUnits + unit, 1u);
    }
  }

  // Adds the sums of the warpgroups that took turns at a tile, in their order, in the first of
  // them.
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

  static __device__ void consume(const GemmParams& p, const Line& line, uint8_t* stages,
                                 float* exchange, Shared* shared) {
    const int warpgroup = threadIdx.x / 128, thread = threadIdx.x % 128;
    const int unit = warpgroup % kTileUnits, turn = warpgroup / kTileUnits;
    Barriers* barriers = &shared->barriers;
    wait_for_previous_kernel();
    if (threadIdx.x < tokens) {
      shared->x_scales[threadIdx.x] = threadIdx.x < p.m ? p.x_scales[threadIdx.x] : 0.0f;
    }
    named_barrier(kScalesBarrier, 128 * kWarpgroups);
    Ring<kStages> ring;
    ring.advance(turn);
    int next_turn = 0;    // whose turn the segment's first place is
    int unfinished = -1;  // the tile whose sums this block adds
    const int last_whole = line.begin(blockIdx.x + 1) / line.slabs - 1;
    for_each_segment(line, [&](const Segment& s) {
      if (unfinished >= 0 && s.tile == last_whole) {
        finish(p, line, shared->x_scales, unfinished, unit, thread);
        unfinished = -1;
      }
      float total[kSums];
#pragma unroll
      for (int i = 0; i < kSums; ++i) total[i] = 0;
      // This warpgroup's places of the segment: every kTurns'th.
      const int first = (turn - next_turn + kTurns) % kTurns;
      const int mine = first < s.slabs ? (s.slabs - first + kTurns - 1) / kTurns : 0;
      next_turn = (next_turn + s.slabs) % kTurns;

      for (int i = 0; i < mine; ++i) {
        barrier_wait(&barriers->full[ring.stage], ring.phase);
        Fragments f;
        load(units_of(stages, ring.stage) + unit * kUnit, thread, f);
        multiply(tile_descriptor(x_of(stages, ring.stage)), f, total);
        if (thread % 32 == 0) barrier_arrive(&barriers->empty[ring.stage]);
        ring.advance(kTurns);
      }

      gather(exchange, turn, unit, thread, total);
      if (turn != 0 || (s.tile * kTileUnits + unit) * kTileN >= p.n) return;
      if (s.whole) {
        store(p, shared->x_scales, s.tile, unit, thread, total);
        return;
      }
      leave(slot(p, blockIdx.x, s.ends, unit), thread, total);
      if (s.ends) {
        unfinished = s.tile;
      } else {
        __syncwarp();
        if (thread % 32 == 0) barrier_arrive(&barriers->contributed[unit]);
      }
    });
    if (unfinished >= 0) finish(p, line, shared->x_scales, unfinished, unit, thread);
  }

  static __device__ void run(const TensorMap& x_map, const GemmParams& p) {
    // Aligned by declaration: an address rounded up by hand turns every access into a generic one,
    // which took decode from 1600 clocks a unit to what it is now.
    extern __shared__ __align__(1024) uint8_t stages[];
    constexpr int kStagesBytes = kStages * decode_stage_bytes(kind, tokens);
    auto* exchange = reinterpret_cast<float*>(stages + kStagesBytes);
    auto* shared = reinterpret_cast<Shared*>(stages + kStagesBytes + decode_reduce_bytes(tokens));
    Barriers* barriers = &shared->barriers;
    let_next_kernel_start();
    if (threadIdx.x == 0) {
      for (int s = 0; s < kStages; ++s) {
        barrier_init(&barriers->full[s], 1);
        barrier_init(&barriers->empty[s], kTileUnits * 4);
      }
      for (uint64_t& barrier : barriers->contributed) barrier_init(&barrier, 4);
      fence_barrier_init();
    }
    __syncthreads();
    const int tiles = (p.n + kTileUnits * kTileN - 1) / (kTileUnits * kTileN);
    const Line line(tiles, p.slabs, static_cast<int>(gridDim.x));
    if (threadIdx.x < 128 * kWarpgroups) {
      consume(p, line, stages, exchange, shared);
    } else if (threadIdx.x % 32 == 0) {
      const int producer = (static_cast<int>(threadIdx.x) - 128 * kWarpgroups) / 32;
      if (producer < kDecodeProducers) {
        produce(x_map, p, line, producer, stages, barriers);
      } else {
        announce(p, line, barriers);
      }
    }
  }
};

}  // namespace

#define RADIANCE_DECODE(name, kind, tokens)                                                   \
  extern "C" __global__ void __launch_bounds__(decode_threads(tokens), decode_blocks(tokens)) \
      name(const __grid_constant__ TensorMap x_map, const __grid_constant__ GemmParams p) {   \
    Decode<kind, tokens>::run(x_map, p);                                                      \
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
