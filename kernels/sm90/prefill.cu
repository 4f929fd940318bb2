// Many tokens: tiles of 128 features by 256 (or 128) tokens, one block a multiprocessor.
//
// A producer warp brings slabs of 128 k: the tokens' by the tensor copy engine, the weights' by
// bulk copies. Two warpgroups take 64 features each, unpack them to A fragments and multiply them
// by 64 tokens at a time (m64n64k32); a group's sums are promoted to fp32 with the scale while the
// next group runs. 128 running sums and 2 x 32 of groups are all the registers there are.
//
// What bounds the loop is the register file, which the tensor cores read and write at every step of
// k: a vector instruction takes 3 to 4 clocks beside them (measured). So few instructions count: a
// tile is wide in tokens, for every code is unpacked once a tile; 256 features by 128 tokens took
// twice the unpacking, and 15 % more time.
//
// Tiles that do not go evenly into the blocks, and one more round of them (policy.cpp), are shared
// by stream-K (stream_k.hpp): a block begins with what another waits for, then come its whole
// tiles, and at last it adds up what others began.
#include <cstddef>

#include "kernels/sm90/output.cuh"
#include "kernels/sm90/ptx.cuh"
#include "kernels/sm90/stream_k.hpp"
#include "kernels/sm90/weights.cuh"
#include "kernels/sm90/wgmma.cuh"

namespace radiance::sm90 {
namespace {

struct TensorMap {
  alignas(64) uint64_t opaque[16];
};

template <int stages>
struct ControlOf {
  uint64_t full[stages];
  uint64_t empty[stages];
  uint64_t contributed[kPrefillWarpgroups];  // a warpgroup's sums are written, for another block
  Plan plan;
};

// What a warpgroup of each kind takes of the registers that a block has from its launch. One that
// asks for more than are left waits for ever.
constexpr int kConsumerRegisters = 240, kProducerRegisters = 24;
static_assert(128 * (kPrefillWarpgroups * kConsumerRegisters + kProducerRegisters) <=
              65536 / kPrefillThreads / 8 * 8 * kPrefillThreads);

template <ScaleKind kind, int tokens>
struct Prefill {
  static constexpr int kStages = prefill_stages(kind, tokens);
  using Control = ControlOf<kStages>;
  static constexpr int kXBytes = tokens * kSlabK;  // a multiple of 1024: wgmma's swizzle
  static constexpr int kUnit = unit_bytes(kind);
  static constexpr int kUnitsBytes = prefill_units_bytes(kind);
  static constexpr int kUnitsAt = kStages * kXBytes;
  static constexpr int kOutputs = prefill_outputs(kind, tokens);
  // Copies out are swizzled like the tokens: in blocks of 1024 bytes.
  static constexpr int kOutputsAt =
      (kStages * prefill_stage_bytes(kind, tokens) + 1023) / 1024 * 1024;
  static constexpr int kControlAt =
      kOutputsAt + kPrefillWarpgroups * kOutputs * kPrefillOutputBytes;
  static_assert(kOutputs >= 1 && kControlAt + kPrefillControlBytes <= kSharedBytes);
  static_assert(sizeof(Control) <= kPrefillControlBytes);

  // A slab is multiplied in groups of 64 tokens by one scale's k, part by part. While a group runs
  // the one before it is promoted and a piece of the next slab unpacked.
  static constexpr int kParts = scales_per_slab(kind);
  static constexpr int kChunkTokens = 64;
  static constexpr int kChunks = tokens / kChunkTokens;
  static constexpr int kGroups = kParts * kChunks;
  static constexpr int kChunkSums = kChunkTokens / 2;  // registers of a 64 x 64 tile
  static constexpr int kSums = tokens / 2;
  static constexpr int kFirst =
      kGroups > 3 ? kGroups - 3 : 0;  // beside which the next slab is begun
  static constexpr int kPiece =
      kCodeBytes / 2;  // of a unit's codes: two of a thread's four fragments

  // Where a tile lies. Neighbours have other tokens and the same features, within a band of tokens
  // that the second level cache keeps; the next band comes behind the last column.
  struct Corner {
    int m, n;
  };
  static __device__ Corner corner(const GemmParams& p, int tile) {
    const int band = tile / p.band_tiles, within = tile % p.band_tiles;
    const int height = min(p.band, p.tiles_m - band * p.band);
    return {(band * p.band + within % height) * tokens, within / height * kPrefillN};
  }

  // The copies of the first turn of the ring's weights, or everything else. The weights do not
  // depend on the activations: they are on their way while the kernel before still runs.
  template <bool first_weights>
  static __device__ __forceinline__ void copy(const TensorMap& x_map, const GemmParams& p,
                                              uint8_t* shared, const Control* control) {
    const uint32_t x = shared_address(shared), units = x + kUnitsAt;
    const uint32_t full = shared_address(control->full), empty = shared_address(control->empty);
    const int64_t next_unit = static_cast<int64_t>(p.slabs) * kUnit;  // of 64 features
    uint32_t place = 0;
    Segment s;
#pragma unroll 1
    for (int i = 0; control->plan.segment(i, s); ++i) {
      const Corner at = corner(p, s.tile);
      const int first = at.n / kTileN;
      // The last tile may lack a unit: what is read in its place is old and never stored.
      const int here = min(kPrefillWarpgroups, (p.n + kTileN - 1) / kTileN - first);
      const uint8_t* from = p.units + first * next_unit + static_cast<int64_t>(s.slab) * kUnit;
      const int end = s.slab + s.slabs;
#pragma unroll 1  // registers
      for (int slab = s.slab; slab < end; ++slab, ++place, from += kUnit) {
        const uint32_t stage = place % kStages;
        if (first_weights && place == kStages) return;
        if (!first_weights && place >= kStages) {
          barrier_wait(empty + 8 * stage, place / kStages - 1 & 1);
        }
        if (first_weights || place >= kStages) {
          barrier_expect(full + 8 * stage, kXBytes + here * kUnit);
#pragma unroll
          for (int w = 0; w < kPrefillWarpgroups; ++w) {
            if (w < here) {
              copy_bulk(units + stage * kUnitsBytes + w * kUnit, from + w * next_unit, kUnit,
                        full + 8 * stage);
            }
          }
        }
        if (!first_weights) {
          copy_tile(x + stage * kXBytes, &x_map, slab * kSlabK, at.m, full + 8 * stage);
        }
      }
    }
  }

  static __device__ void produce(const TensorMap& x_map, const GemmParams& p, uint8_t* shared,
                                 const Control* control) {
    copy<true>(x_map, p, shared, control);
    wait_for_previous_kernel();
    copy<false>(x_map, p, shared, control);
  }

  // Tells the block that finishes a tile.
  static __device__ void announce(const GemmParams& p, Control* control) {
    const int tile = control->plan.contributed_tile();
    if (tile < 0) return;
    for (int w = 0; w < kPrefillWarpgroups; ++w) {
      barrier_wait(&control->contributed[w], 0);
      __threadfence();
      atomicAdd(p.counters + kPrefillWarpgroups * tile + w, 1u);
    }
  }

  struct Fragments {
    uint32_t a[4][4];
  };

  // Begins to multiply the g'th group of the slab with descriptor x.
  static __device__ __forceinline__ void issue(uint32_t x, const Fragments& f, int g,
                                               float (&sum)[2][kChunkSums]) {
    constexpr int steps = 4 / kParts;
    const int part = g / kChunks, chunk = g % kChunks;
    const uint32_t at = x + chunk * (kChunkTokens * kSlabK >> 4) + part * steps * kDescriptorStep;
    pin(sum[g % 2]);
    warpgroup_arrive();
#pragma unroll
    for (int s = 0; s < steps; ++s) {
      Wgmma<kChunkTokens>::run(sum[g % 2], f.a[part * steps + s],
                               descriptor(at + s * kDescriptorStep), s != 0);
    }
    warpgroup_commit();
  }

  // Adds the sums of the g'th group, which has run.
  static __device__ __forceinline__ void promote(int g, const float (&scale)[2],
                                                 float (&sum)[2][kChunkSums],
                                                 float (&total)[kSums]) {
    float* to = total + g % kChunks * kChunkSums;
    pin(sum[g % 2]);
#pragma unroll
    for (int i = 0; i < kChunkSums; ++i) {
      to[i] = fmaf(sum[g % 2][i], scale[(i & 2) != 0], to[i]);
    }
  }

  // The bits of the scales of the thread's two rows, by the shared address of the first.
  static __device__ __forceinline__ void load_scales(uint32_t scales, int part,
                                                     uint32_t (&bits)[2]) {
#pragma unroll
    for (int i = 0; i < 2; ++i) {
      if constexpr (is_mxfp4(kind)) {
        bits[i] = load_shared_byte(scales + part * kTileN + 8 * i);
      } else {
        bits[i] = load_shared_2_bytes(scales + 2 * (part * kTileN + 8 * i));
      }
    }
  }
  static __device__ __forceinline__ void convert_scales(const uint32_t (&bits)[2],
                                                        float (&scale)[2]) {
#pragma unroll
    for (int i = 0; i < 2; ++i) scale[i] = scale_of_bits<kind>(bits[i]);
  }

  // Shared addresses: where all begins, and a thread's operands in the first stage.
  struct Places {
    uint32_t base, codes, scales;
    __device__ uint32_t x(uint32_t stage) const { return base + stage * kXBytes; }
    __device__ uint32_t full(uint32_t stage) const { return base + kControlAt + 8 * stage; }
    __device__ uint32_t empty(uint32_t stage) const {
      return base + kControlAt + static_cast<uint32_t>(offsetof(Control, empty)) + 8 * stage;
    }
  };

  // Sums of the slabs at places begin .. end - 1 of the ring.
  static __device__ __forceinline__ void multiply(const Places& at, uint32_t begin, uint32_t end,
                                                  bool always, float (&total)[kSums]) {
    Fragments f[2];
    float sum[2][kChunkSums], scale[2] = {0, 0};
    uint32_t bits[2];
    uint4 raw;
#pragma unroll
    for (int i = 0; i < kSums; ++i) total[i] = 0;
#pragma unroll
    for (int i = 0; i < kChunkSums; ++i)
      sum[1][i] = 0;  // "promoted" by the first group, with scale 0
    const auto stage_of = [](uint32_t place) { return place % kStages; };
    const auto wait_for = [&](uint32_t place) {
      barrier_wait(at.full(stage_of(place)), place / kStages & 1);
    };
    wait_for(begin);
#pragma unroll
    for (int i = 0; i < 2; ++i) {
      const uint32_t codes = at.codes + stage_of(begin) * kUnitsBytes + i * kPiece;
      unpack<kind>(load_shared_16_bytes(codes), &f[0].a[2 * i]);
    }
    for (uint32_t place = begin; place < end;) {
#pragma unroll
      for (int u = 0; u < 2; ++u) {
        // Behind the last it is the last again, for nothing.
        const auto next_codes = [&] {
          return at.codes + stage_of(min(place + 1, end - 1)) * kUnitsBytes;
        };
        const uint32_t x = descriptor_low(at.x(stage_of(place)));
#pragma unroll
        for (int g = 0; g < kGroups; ++g) {
          issue(x, f[u], g, sum);
          if (g == kFirst && place + 1 < end) wait_for(place + 1);
          warpgroup_wait<1>();
          // A block of its own, behind a condition that always holds, keeps the compiler from
          // promoting the last slab's sums before it begins to multiply.
          if (g == 0 && !always) continue;
          if (g % kChunks == 0) {
            load_scales(at.scales + stage_of(place) * kUnitsBytes, g / kChunks, bits);
          }
          if (g % kChunks == 1) convert_scales(bits, scale);
          if (g == kFirst) raw = load_shared_16_bytes(next_codes());
          promote((g + kGroups - 1) % kGroups, scale, sum, total);
          // Here, and not where the last slab ended, because the tensor cores have something to do
          // now.
          if (g == 0 && place != begin) barrier_arrive_once(at.empty(stage_of(place - 1)));
          if (g == kFirst + 1) {
            unpack<kind>(raw, &f[1 - u].a[0]);
            raw = load_shared_16_bytes(next_codes() + kPiece);
          }
          if (g == min(kFirst + 2, kGroups - 1)) unpack<kind>(raw, &f[1 - u].a[2]);
        }
        // Across the loop's end nothing may run, or the compiler serializes all of it (C7514).
        warpgroup_wait<0>();
        if (++place == end) break;
      }
    }
    barrier_arrive_once(at.empty(stage_of(end - 1)));
    promote(kGroups - 1, scale, sum, total);
  }

  // Tokens m and m + 1 of a thread's j'th eight, scaled and biased: [0] and [1] of its first row,
  // [2] and [3] of its second.
  static __device__ __forceinline__ void scaled(const GemmParams& p, int m, const float (&bias)[2],
                                                const float* total, float (&y)[4]) {
    const float scale[2] = {m < p.m ? p.x_scales[m] : 0.0f, m + 1 < p.m ? p.x_scales[m + 1] : 0.0f};
#pragma unroll
    for (int i = 0; i < 4; ++i) y[i] = fmaf(total[i], scale[i % 2], bias[i / 2]);
  }

  // 16-bit results go through shared memory, transposed on the way: rows of 64 features a token,
  // whose 16-byte pieces are swizzled as the copy engine expects.
  static __device__ __forceinline__ void copy_out(const TensorMap& y_map, const GemmParams& p,
                                                  int m0, int n0, int warpgroup, int thread,
                                                  uint32_t outputs, const float (&total)[kSums]) {
    const int lane = thread % 32, row = thread / 32 * 16;
    const float bias[2] = {load_bias(p, n0 + row + lane / 4),
                           load_bias(p, n0 + row + lane / 4 + 8)};
#pragma unroll
    for (int round = 0; round < tokens / kPrefillOutputTokens; ++round) {
      const uint32_t to = outputs + (warpgroup * kOutputs + round % kOutputs) * kPrefillOutputBytes;
      const int first = round * kPrefillOutputTokens;
      wait_for_copies_out<kOutputs - 1>();
      named_barrier(1 + warpgroup, 128);  // what was here has left
#pragma unroll
      for (int j = 0; j < kPrefillOutputTokens / 8; j += 2) {
        uint32_t packed[4];
#pragma unroll
        for (int i = 0; i < 2; ++i) {
          const int token = first + 8 * (j + i);
          float y[4];
          scaled(p, m0 + token + lane % 4 * 2, bias, &total[token / 2], y);
#pragma unroll
          for (int h = 0; h < 2; ++h) packed[2 * i + h] = to_pair(p.y_type, y[2 * h], y[2 * h + 1]);
        }
        // Four 8 x 8 matrices of (feature, token), stored as (token, feature).
        const int token = 8 * j + lane / 16 * 8 + lane % 8;
        const int piece = (row / 8 + lane / 8 % 2) ^ (token % 8);
        asm volatile("stmatrix.sync.aligned.m8n8.x4.trans.shared.b16 [%0], {%1, %2, %3, %4};" ::"r"(
                         to + token * kTileN * 2 + piece * 16),
                     "r"(packed[0]), "r"(packed[1]), "r"(packed[2]), "r"(packed[3])
                     : "memory");
      }
      fence_for_copies();
      named_barrier(1 + warpgroup, 128);
      if (thread == 0) copy_tile_out(&y_map, n0, m0 + first, to);
    }
  }

  static __device__ void store(const GemmParams& p, int m0, int n0, int thread,
                               const float (&total)[kSums]) {
    const int lane = thread % 32, row = n0 + thread / 32 * 16 + lane / 4;
    const float bias[2] = {load_bias(p, row), load_bias(p, row + 8)};
#pragma unroll
    for (int j = 0; j < tokens / 8; ++j) {
      const int m = m0 + 8 * j + lane % 4 * 2;
      float y[4];
      scaled(p, m, bias, &total[4 * j], y);
#pragma unroll
      for (int i = 0; i < 4; ++i) {
        const int n = row + i / 2 * 8;
        if (m + i % 2 < p.m && n < p.n) {
          store_element(p.y, p.y_type, (m + i % 2) * p.ldy + n, y[i]);
        }
      }
    }
  }

  // Where a block leaves sums of a tile for another.
  static __device__ float* slot(const GemmParams& p, int block) {
    return p.partials + static_cast<int64_t>(block) * (tokens * kPrefillN) + threadIdx.x;
  }

  static __device__ void contribute(const GemmParams& p, int warpgroup, Control* control,
                                    const float (&total)[kSums]) {
    float* to = slot(p, static_cast<int>(blockIdx.x));
#pragma unroll
    for (int i = 0; i < kSums; ++i) __stcg(to + i * (128 * kPrefillWarpgroups), total[i]);
    __syncwarp();
    barrier_arrive_once(shared_address(&control->contributed[warpgroup]));
  }

  static __device__ Line shared_line(const GemmParams& p) {
    return {p.shared_tiles, p.slabs, static_cast<int>(gridDim.x)};
  }

  // Adds the sums of the blocks that have a tile's first slabs.
  static __device__ void gather(const GemmParams& p, int tile, int warpgroup, int thread,
                                float (&total)[kSums]) {
    const Line line = shared_line(p);
    uint32_t* counter = p.counters + kPrefillWarpgroups * tile + warpgroup;
    const int self = static_cast<int>(blockIdx.x);
    const int first = line.first_block(tile, self);
    if (thread == 0) {
      uint32_t seen;
      do {
        asm volatile("ld.acquire.gpu.u32 %0, [%1];" : "=r"(seen) : "l"(counter) : "memory");
      } while (seen != static_cast<uint32_t>(self - first));
      *counter = 0;
    }
    named_barrier(1 + warpgroup, 128);
    for (int block = first; block < self; ++block) {
      const float* part = slot(p, block);
#pragma unroll
      for (int i = 0; i < kSums; ++i) total[i] += __ldcg(part + i * (128 * kPrefillWarpgroups));
    }
  }

  static __device__ void consume(const TensorMap& y_map, const GemmParams& p, const uint8_t* shared,
                                 Control* control) {
    const int warpgroup = threadIdx.x / 128, thread = threadIdx.x % 128;
    // Through a shuffle, or the compiler computes addresses anew wherever they are used.
    const auto here = [&](uint32_t address) { return __shfl_sync(~0u, address, thread % 32); };
    const uint32_t base = here(shared_address(shared));
    const uint32_t units = base + kUnitsAt + warpgroup * kUnit;
    const int feature = thread / 32 * 16 + thread % 32 / 4;
    const Places at = {base, here(units + thread * 16),
                       here(units + kCodeBytes + feature * (is_mxfp4(kind) ? 1 : 2))};
    wait_for_previous_kernel();
    uint32_t place = 0;
    Segment s;
    for (int i = 0; control->plan.segment(i, s); ++i) {
      float total[kSums];
      multiply(at, place, place + s.slabs, p.m > 0, total);
      // Once more from shared memory: the loop over slabs left no registers to keep it in.
      control->plan.segment(i, s);
      place += s.slabs;
      if (!s.ends) {
        contribute(p, warpgroup, control, total);
        continue;
      }
      if (!s.whole) gather(p, s.tile, warpgroup, thread, total);
      const Corner to = corner(p, s.tile);
      if (p.copies_out != 0) {
        copy_out(y_map, p, to.m, to.n + warpgroup * kTileN, warpgroup, thread,
                 shared_address(shared) + kOutputsAt, total);
      } else {
        store(p, to.m, to.n + warpgroup * kTileN, thread, total);
      }
    }
    wait_for_copies_out<0>();
  }

  static __device__ void run(const TensorMap& x_map, const TensorMap& y_map, const GemmParams& p) {
    // Aligned by declaration: an address rounded up by hand turns every access into a generic one,
    // which took decode from 1600 clocks a unit to what it is now.
    extern __shared__ __align__(1024) uint8_t shared[];
    auto* control = reinterpret_cast<Control*>(shared + kControlAt);
    if (threadIdx.x == 0) {
      for (int s = 0; s < kStages; ++s) {
        barrier_init(&control->full[s], 1);
        barrier_init(&control->empty[s], 4 * kPrefillWarpgroups);
      }
      for (uint64_t& barrier : control->contributed) barrier_init(&barrier, 4);
      fence_barrier_init();
      control->plan.make(shared_line(p), p.shared_tiles, p.tiles_m * p.tiles_n,
                         static_cast<int>(blockIdx.x));
    }
    __syncthreads();
    let_next_kernel_start();  // where a block of this one has ended
    if (threadIdx.x >= 128 * kPrefillWarpgroups) {
      give_registers<kProducerRegisters>();
      if (threadIdx.x == 128 * kPrefillWarpgroups) {
        produce(x_map, p, shared, control);
      }
      if (threadIdx.x == 128 * kPrefillWarpgroups + 32) announce(p, control);
    } else {
      take_registers<kConsumerRegisters>();
      consume(y_map, p, shared, control);
    }
  }
};

}  // namespace

#define RADIANCE_PREFILL(name, kind, tokens)                                                 \
  extern "C" __global__ void __launch_bounds__(kPrefillThreads, 1)                           \
      name(const __grid_constant__ TensorMap x_map, const __grid_constant__ TensorMap y_map, \
           const __grid_constant__ GemmParams p) {                                           \
    Prefill<kind, tokens>::run(x_map, y_map, p);                                             \
  }

RADIANCE_PREFILL(prefill_slab_128, ScaleKind::kSlab, 128)
RADIANCE_PREFILL(prefill_slab_256, ScaleKind::kSlab, 256)
RADIANCE_PREFILL(prefill_half_128, ScaleKind::kHalf, 128)
RADIANCE_PREFILL(prefill_half_256, ScaleKind::kHalf, 256)
RADIANCE_PREFILL(prefill_step_128, ScaleKind::kStep, 128)
RADIANCE_PREFILL(prefill_step_256, ScaleKind::kStep, 256)
RADIANCE_PREFILL(prefill_e8m0_128, ScaleKind::kE8m0, 128)
RADIANCE_PREFILL(prefill_e8m0_256, ScaleKind::kE8m0, 256)

}  // namespace radiance::sm90
