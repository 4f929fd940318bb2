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
// The whole operation is this one kernel: its first blocks quantize a row each, while the stages of
// all fill with weights, which depend on nothing. Producers wait until the rows are counted, again
// a wait for blocks of lower numbers. As a kernel of its own the quantizer cost 6 to 9 us.
//
// The next kernel is let in before this one ends: up to 16 tokens its blocks take the other half of
// each multiprocessor and fill their stages meanwhile, so that memory does not idle between
// kernels. What depends on earlier kernels waits until all of them have ended.
#include <cstddef>

#include "kernels/sm90/output.cuh"
#include "kernels/sm90/ptx.cuh"
#include "kernels/sm90/quantize_row.cuh"
#include "kernels/sm90/stream_k.hpp"
#include "kernels/sm90/weights.cuh"
#include "kernels/sm90/wgmma.cuh"

namespace radiance::sm90 {
namespace {

struct TensorMap {
  alignas(64) uint64_t opaque[16];
};

constexpr int kMaxStages = 24;
constexpr int kQuantizeBarrier = 15;
// Slabs that a block may take in until another's announcement is there (2 us).
constexpr int kAnnounced = 16;

struct Barriers {
  uint64_t full[kMaxStages];
  uint64_t empty[kMaxStages];
  uint64_t contributed[4];  // a unit's sums are written, for another block
  uint64_t seen;            // by each producer: all rows are quantized
  uint64_t scales;          // of the tokens are here
};

// A block's part of the line: first the head of a tile that another block ends, for which that one
// waits (or all it has, if that is the middle of a tile); then the rest in order: the end of a tile
// that others began, and whole tiles.
struct Part {
  int begin, end, head;  // places of the head: the last ones
  __device__ explicit Part(const Line& line)
      : begin(line.begin(blockIdx.x)), end(line.begin(blockIdx.x + 1)) {
    head = min(end % line.slabs, end - begin);
  }
  __device__ int places() const { return end - begin; }
  __device__ int stop() const { return end - head; }
};

struct Shared {
  Barriers barriers;
  float x_scales[64];
  uint32_t warp_max[16];
  // For the multiplying warps, which have no registers left.
  Line line;
  Part part;
};

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
  static_assert(kStages >= 2 * kTurns && kStages <= kMaxStages);
  static_assert(kStages % kDecodeProducers == 0);
  static_assert(sizeof(Shared) <= kDecodeBarrierBytes);

  static __device__ int tiles_of(const GemmParams& p) {
    return (p.n + kTileUnits * kTileN - 1) / (kTileUnits * kTileN);
  }

  // The stages: the tokens' slabs, then the units.
  static __device__ __forceinline__ uint8_t* units_of(uint8_t* stages, int stage) {
    return stages + kStages * kXBytes + stage * kUnitsBytes;
  }

  // Producer warps take the stages in turn: one of them alone needs 250 clocks for a stage's waits
  // and copies, as long as memory for its 4 KB.
  static __device__ void produce(const TensorMap& x_map, const GemmParams& p, int producer,
                                 uint8_t* stages, Shared& shared) {
    const Line line(tiles_of(p), p.slabs, static_cast<int>(gridDim.x));
    const Part part(line);
    Barriers* barriers = &shared.barriers;
    const uint64_t policy = evict_first_policy();
    const int units = (p.n + kTileN - 1) / kTileN;
    const auto weights = [&](int tile, int slab, int stage) {
      uint8_t* to = units_of(stages, stage);
      // The last tile may lack units: what is read in their place is old and never stored.
      const int here = min(kTileUnits, units - tile * kTileUnits);
      barrier_expect(&barriers->full[stage], kXBytes + here * kUnit);
#pragma unroll 1
      for (int w = 0; w < here; ++w) {
        const int64_t index = static_cast<int64_t>(tile * kTileUnits + w) * p.slabs + slab;
        copy_bulk(to + w * kUnit, p.units + index * kUnit, kUnit, &barriers->full[stage], policy);
      }
    };
    // f(i, tile, slab) for this producer's places from the i-th to the one before `until`.
    const auto for_each_place = [&](int until, const auto& f) {
      int slab = (part.end - part.head) % line.slabs + producer;
      int tile = (part.end - part.head) / line.slabs;
      int i = producer;
#pragma unroll 1
      for (; i < min(part.head, until); i += kDecodeProducers, slab += kDecodeProducers) {
        f(i, tile, slab);
      }
      slab = part.begin % line.slabs + i - part.head;
      tile = part.begin / line.slabs;
#pragma unroll 1
      for (; i < until; i += kDecodeProducers, slab += kDecodeProducers) {
        while (slab >= line.slabs) {
          slab -= line.slabs;
          ++tile;
        }
        f(i, tile, slab);
      }
    };
    // The weights of the first turn of the ring do not depend on the activations.
    for_each_place(min(kStages, part.places()),
                   [&](int i, int tile, int slab) { weights(tile, slab, i); });
    wait_for_previous_kernel();  // whose rows are counted until it ends
    if (p.quantize.x != nullptr) {
      wait_for_rows(p);
      fence_global_for_copies();
      barrier_arrive(&barriers->seen);
    }
    Ring<kStages> ring;
    ring.phase = 1;
    ring.advance(producer);
    // Once: it takes 250 clocks.
    int trigger = p.trigger < 0 || producer != 0 ? INT32_MAX : max(part.places() - p.trigger, 0);
    for_each_place(part.places(), [&](int i, int tile, int slab) {
      if (i >= trigger) {
        let_next_kernel_start();
        trigger = INT32_MAX;
      }
      if (i >= kStages) {
        barrier_wait(&barriers->empty[ring.stage], ring.phase);
        weights(tile, slab, ring.stage);
      }
      copy_tile(stages + ring.stage * kXBytes, &x_map, slab * kSlabK, 0,
                &barriers->full[ring.stage]);
      ring.advance(kDecodeProducers);
    });
  }

  // What a thread needs of a unit, as it is in shared memory.
  struct Packed {
    uint4 codes[2];
    uint32_t scale[kParts][2];
  };

  static __device__ __forceinline__ void load(uint32_t codes, uint32_t scales, Packed& packed) {
    packed.codes[0] = load_shared_16_bytes(codes);
    packed.codes[1] = load_shared_16_bytes(codes + 128 * 16);
    constexpr int bytes = kind == ScaleKind::kE8m0 ? 1 : 2;
#pragma unroll
    for (int part = 0; part < kParts; ++part) {
#pragma unroll
      for (int h = 0; h < 2; ++h) {
        const uint32_t at = scales + (part * kTileN + 8 * h) * bytes;
        packed.scale[part][h] = bytes == 1 ? load_shared_byte(at) : load_shared_2_bytes(at);
      }
    }
  }

  struct Fragments {
    uint32_t a[4][4];
    float scale[kParts][2];
  };

  static __device__ __forceinline__ void unpack(const Packed& packed, Fragments& f) {
    sm90::unpack<kind>(packed.codes[0], f.a);
    sm90::unpack<kind>(packed.codes[1], f.a + 2);
#pragma unroll
    for (int part = 0; part < kParts; ++part) {
#pragma unroll
      for (int h = 0; h < 2; ++h) f.scale[part][h] = scale_of_bits<kind>(packed.scale[part][h]);
    }
  }

  static __device__ __forceinline__ void multiply(uint32_t x, const Fragments& f,
                                                  float (&total)[kSums]) {
    constexpr int steps = 4 / kParts;
    const uint32_t low = descriptor_low(x);
#pragma unroll
    for (int part = 0; part < kParts; ++part) {
      float sum[kSums];
      pin(sum);
      warpgroup_arrive();
#pragma unroll
      for (int s = 0; s < steps; ++s) {
        Wgmma<tokens>::run(
            sum, f.a[part * steps + s],
            descriptor(low + (part * steps + s) * static_cast<uint32_t>(kDescriptorStep)), s != 0);
      }
      warpgroup_commit();
      warpgroup_wait<0>();
      pin(sum);
#pragma unroll
      for (int i = 0; i < kSums; ++i) {
        total[i] = fmaf(sum[i], f.scale[part][(i & 2) != 0], total[i]);
      }
    }
  }

  static __device__ __forceinline__ void store(const GemmParams& p, const float* x_scales, int tile,
                                               int unit, int thread, const float (&total)[kSums]) {
    const int row = (tile * kTileUnits + unit) * kTileN + thread / 32 * 16 + thread % 32 / 4;
    const float bias[2] = {load_bias(p, row), load_bias(p, row + 8)};
    const int first = thread % 4 * 2;
    const auto each = [&](const auto& put) {
#pragma unroll
      for (int i = 0; i < kSums; ++i) {
        const int m = i / 4 * 8 + first + (i & 1);
        const int n = row + ((i & 2) != 0 ? 8 : 0);
        if (m < p.m && n < p.n) put(m * p.ldy + n, fmaf(total[i], x_scales[m], bias[(i & 2) != 0]));
      }
    };
    if (p.y_type == kF32) {
      auto* y = static_cast<float*>(p.y);
      each([&](int64_t at, float value) { y[at] = value; });
      return;
    }
    auto* y = static_cast<uint16_t*>(p.y);
    const int unit_row = (tile * kTileUnits + unit) * kTileN;
    if (unit_row + kTileN > p.n || p.ldy % 2 != 0 || reinterpret_cast<uintptr_t>(y) % 4 != 0) {
      each([&](int64_t at, float value) {
        y[at] = p.y_type == kBf16 ? to_bf16(value) : to_f16(value);
      });
      return;
    }
    // Blocks of 8 features by 8 tokens are transposed, so that a thread has two features of a
    // token.
    uint16_t* to = y + unit_row + thread / 32 * 16 + first;
    const int token = thread % 32 / 4;
#pragma unroll
    for (int i = 0; i < kSums; i += 2) {
      const int m = i / 4 * 8;
      const int h = (i & 2) != 0;
      const float low = fmaf(total[i], x_scales[m + first], bias[h]);
      const float high = fmaf(total[i + 1], x_scales[m + first + 1], bias[h]);
      const uint32_t two = transpose_8x8(to_pair(p.y_type, low, high));
      if (m + token < p.m) {
        *reinterpret_cast<uint32_t*>(to + (m + token) * p.ldy + 8 * h) = two;
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

  // To the sums of a tile that ends in this block, adds those of the blocks before it.
  static __device__ __forceinline__ void add_others(const GemmParams& p, const Line& line, int tile,
                                                    int unit, int thread, float (&total)[kSums]) {
    uint32_t* counter = p.counters + tile * kTileUnits + unit;
    const int self = static_cast<int>(blockIdx.x);
    const int first = line.first_block(tile, self);
    if (thread == 0) {
      while (load_acquire(counter) != static_cast<uint32_t>(self - first)) {
      }
      *counter = 0;
    }
    named_barrier(1 + unit, 128);
    float sum[kSums];
#pragma unroll
    for (int i = 0; i < kSums; ++i) sum[i] = 0;
#pragma unroll 1
    for (int block = first; block < self; ++block) {
      const float* part = slot(p, block, false, unit);
#pragma unroll
      for (int i = 0; i < kSums; ++i) sum[i] += __ldcg(part + i * 128 + thread);
    }
#pragma unroll
    for (int i = 0; i < kSums; ++i) total[i] = sum[i] + total[i];
  }

  static __device__ __forceinline__ void wait_for_rows(const GemmParams& p) {
    while ((load_acquire(p.quantized) & 0xffffu) != static_cast<uint32_t>(p.m)) {
    }
  }

  // Waits for the tokens, all of a warp.
  static __device__ void watch_tokens(const GemmParams& p, int lane, Shared* shared) {
    if (lane == 0) {
      wait_for_previous_kernel();
      if (p.quantize.x != nullptr) {
        wait_for_rows(p);
        barrier_wait(&shared->barriers.seen, 0);
        // The last block leaves the counters as they were.
        if (atomicAdd(p.quantized, 0x10000u) >> 16 == gridDim.x - 1) *p.quantized = 0;
      }
    }
    __syncwarp();
    for (int m = lane; m < tokens; m += 32) {
      shared->x_scales[m] = m < p.m ? __ldcg(p.x_scales + m) : 0.0f;
    }
    __syncwarp();
    if (lane == 0) barrier_arrive(&shared->barriers.scales);
  }

  // The whole operation: block b quantizes row b (and b + blocks, ...), while all stages fill with
  // weights. A kernel of its own would stand between this one's start and its tokens, and its
  // blocks would push some of this kernel's off their multiprocessors.
  static __device__ __forceinline__ void quantize_rows(const GemmParams& p, Shared* shared) {
    if (p.quantize.x == nullptr || static_cast<int>(blockIdx.x) >= p.m) return;
    constexpr int threads = 128 * kWarpgroups;
    wait_for_previous_kernel();
    for (int row = blockIdx.x; row < p.m; row += gridDim.x) {
      quantize_row<threads, 2>(p.quantize, row, threadIdx.x, shared->warp_max,
                               [] { named_barrier(kQuantizeBarrier, threads); });
      named_barrier(kQuantizeBarrier, threads);
      if (threadIdx.x == 0) add_release(p.quantized, 1);
    }
  }

  // Tells the block that finishes the tile.
  static __device__ void announce(const GemmParams& p, Shared& shared) {
    const Line line(tiles_of(p), p.slabs, static_cast<int>(gridDim.x));
    const Part part(line);
    Barriers* barriers = &shared.barriers;
    if (part.head == 0) return;
    const int tile = part.end / line.slabs;
#pragma unroll 1
    for (int unit = 0; unit < kTileUnits; ++unit) {
      if ((tile * kTileUnits + unit) * kTileN >= p.n) return;
      barrier_wait(&barriers->contributed[unit], 0);
      add_release(p.counters + tile * kTileUnits + unit, 1);
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

  static __device__ void consume(const GemmParams& p, uint8_t* stages, float* exchange,
                                 Shared* shared) {
    // Uniform, as the compiler can see.
    const int warpgroup = __shfl_sync(0xffffffffu, threadIdx.x / 128, 0);
    const int thread = threadIdx.x % 128;
    const int unit = warpgroup % kTileUnits, turn = warpgroup / kTileUnits;
    Barriers* barriers = &shared->barriers;
    constexpr uint32_t kFull = kStages * decode_stage_bytes(kind, tokens) +
                               decode_reduce_bytes(tokens) + offsetof(Shared, barriers) +
                               offsetof(Barriers, full);
    constexpr uint32_t kEmpty = kFull + offsetof(Barriers, empty) - offsetof(Barriers, full);
    constexpr uint32_t kScaleSize = kind == ScaleKind::kE8m0 ? 1 : 2;
    uint32_t base = shared_address(stages);
    uint32_t codes = base + kStages * kXBytes + unit * kUnit + thread * 16;
    uint32_t scales = base + kStages * kXBytes + unit * kUnit + kCodeBytes +
                      (thread / 32 * 16 + thread % 32 / 4) * kScaleSize;
    // Computed once: 64 tokens have no registers to keep them.
    if constexpr (tokens < 64) asm volatile("" : "+r"(base), "+r"(codes), "+r"(scales));
    quantize_rows(p, shared);
    Ring<kStages> ring;
    ring.advance(turn);
    int next_turn = 0;  // whose turn the step's first place is
    const Line& line = shared->line;
    const Part& part = shared->part;
    int at = part.head != 0 ? part.stop() : part.begin;  // the place that comes next
    bool head = part.head != 0;
    int left = -1;  // the tile whose sums this block left, to finish before its last tile
#pragma unroll 1
    while (head || at < part.stop() || left >= 0) {
      // Before the last tile, so that its copies go on meanwhile; behind it if the block before,
      // which begins with its share, may not be through with that.
      const bool ready =
          at - part.begin + part.head >= min(part.begin % line.slabs, line.each) + kAnnounced;
      const bool resumes =
          left >= 0 && (at >= part.stop() || (ready && at + line.slabs >= part.stop()));
      const int tile = resumes ? left : at / line.slabs;
      const int slabs = head ? part.head : min(part.stop(), (tile + 1) * line.slabs) - at;
      const bool ends = !head, whole = slabs == line.slabs && !resumes;
      const bool absent = (tile * kTileUnits + unit) * kTileN >= p.n;
      float total[kSums];
      if (resumes) {
        left = -1;
        if (turn != 0 || absent) continue;
        const float* sums = slot(p, blockIdx.x, true, unit);
#pragma unroll
        for (int i = 0; i < kSums; ++i) total[i] = __ldcg(sums + i * 128 + thread);
      } else {
        at = head ? part.begin : at + slabs;
        head = false;
#pragma unroll
        for (int i = 0; i < kSums; ++i) total[i] = 0;
        // This warpgroup's places of the step: every kTurns'th.
        const int first = (turn - next_turn + kTurns) % kTurns;
        next_turn = (next_turn + slabs) % kTurns;
#pragma unroll 1
        for (int i = first; i < slabs; i += kTurns) {
          barrier_wait(base + kFull + 8 * ring.stage, ring.phase);
          Packed packed;
          load(codes + ring.stage * kUnitsBytes, scales + ring.stage * kUnitsBytes, packed);
          Fragments f;
          unpack(packed, f);
          multiply(base + ring.stage * kXBytes, f, total);
          if (thread % 32 == 0) barrier_arrive(base + kEmpty + 8 * ring.stage);
          ring.advance(kTurns);
        }
        gather(exchange, turn, unit, thread, total);
        const bool leaves = ends && !whole && at < part.stop();
        if (leaves) left = tile;
        if (turn != 0 || absent) continue;
        if (!ends || leaves) {
          leave(slot(p, blockIdx.x, ends, unit), thread, total);
          if (!ends) {
            __syncwarp();
            if (thread % 32 == 0) barrier_arrive(&barriers->contributed[unit]);
          }
          continue;
        }
      }
      if (!whole) add_others(p, line, tile, unit, thread, total);
      barrier_wait(&barriers->scales, 0);
      store(p, shared->x_scales, tile, unit, thread, total);
    }
  }

  static __device__ void run(const TensorMap& x_map, const GemmParams& p) {
    // Aligned by declaration: an address rounded up by hand turns every access into a generic one,
    // which took decode from 1600 clocks a unit to what it is now.
    extern __shared__ __align__(1024) uint8_t stages[];
    constexpr int kStagesBytes = kStages * decode_stage_bytes(kind, tokens);
    auto* exchange = reinterpret_cast<float*>(stages + kStagesBytes);
    auto* shared = reinterpret_cast<Shared*>(stages + kStagesBytes + decode_reduce_bytes(tokens));
    Barriers* barriers = &shared->barriers;
    if (p.trigger < 0) let_next_kernel_start();
    if (threadIdx.x == 32) {
      shared->line = Line(tiles_of(p), p.slabs, static_cast<int>(gridDim.x));
      shared->part = Part(shared->line);
    }
    if (threadIdx.x == 0) {
      for (int s = 0; s < kStages; ++s) {
        barrier_init(&barriers->full[s], 1);
        barrier_init(&barriers->empty[s], kTileUnits * 4);
      }
      for (uint64_t& barrier : barriers->contributed) barrier_init(&barrier, 4);
      barrier_init(&barriers->seen, kDecodeProducers);
      barrier_init(&barriers->scales, 1);
      fence_barrier_init();
    }
    __syncthreads();
    if (threadIdx.x < 128 * kWarpgroups) {
      if constexpr (decode_consumer_registers(tokens) != 0) {
        take_registers<decode_consumer_registers(tokens)>();
      }
      consume(p, stages, exchange, shared);
    } else {
      if constexpr (decode_consumer_registers(tokens) != 0) {
        give_registers<kDecodeProducerRegisters>();
      }
      // Uniform, as the compiler can see: copies take uniform registers.
      const int helper = __shfl_sync(0xffffffffu, threadIdx.x / 32, 0) - 4 * kWarpgroups;
      const int lane = static_cast<int>(threadIdx.x) % 32;
      if (helper < kDecodeProducers) {
        if (lane == 0) produce(x_map, p, helper, stages, *shared);
      } else if (helper == kDecodeProducers) {
        watch_tokens(p, lane, shared);
        if (lane == 0) announce(p, *shared);
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
