// Plain C++ for any x86-64, and the reference that the other targets are compared with: no
// intrinsics, no blocking beyond one tile and one group, the contract's formula in its order.
#include "kernels/cpu/gemm_kernel.hpp"
#include "kernels/cpu/layout.hpp"
#include "kernels/cpu/row_kernels.hpp"
#include "numerics/bf16.hpp"
#include "numerics/e2m1.hpp"
#include "numerics/e8m0.hpp"
#include "numerics/f16.hpp"
#include "numerics/int4.hpp"

namespace radiance::cpu {
namespace {

float code_value(Format format, u32 code) {
  return format == Format::kInt4 ? static_cast<float>(int4_value(code))
                                 : e2m1_to_f32(static_cast<u8>(code));
}

// panel[k][lane]: the values of blocks of a tile.
void unpack(Format format, const uint8_t* codes, int64_t blocks, float* panel) {
  float values[16];
  for (u32 c = 0; c < 16; ++c) values[c] = code_value(format, c);
  for (int64_t b = 0; b < blocks; ++b) {
    const auto* words = reinterpret_cast<const u32*>(codes + b * kBlockBytes);
    for (int k = 0; k < kBlockK; ++k) {
      for (int lane = 0; lane < kTileN; ++lane) {
        panel[(b * kBlockK + k) * kTileN + lane] = values[words[lane] >> code_shift(k) & 15u];
      }
    }
  }
}

float load_scale(const GemmTask& task, int64_t index) {
  return task.format == Format::kInt4 ? f16_to_f32(reinterpret_cast<const u16*>(task.scales)[index])
                                      : e8m0_to_f32(task.scales[index]);
}

float load_element(const uint8_t* data, DType type, int64_t i) {
  switch (type) {
    case DType::kBf16:
      return bf16_to_f32(reinterpret_cast<const u16*>(data)[i]);
    case DType::kF16:
      return f16_to_f32(reinterpret_cast<const u16*>(data)[i]);
    case DType::kF32:
      break;
  }
  return reinterpret_cast<const float*>(data)[i];
}

void store_element(uint8_t* data, DType type, int64_t i, float value) {
  switch (type) {
    case DType::kBf16:
      reinterpret_cast<u16*>(data)[i] = f32_to_bf16(value);
      return;
    case DType::kF16:
      reinterpret_cast<u16*>(data)[i] = f32_to_f16(value);
      return;
    case DType::kF32:
      reinterpret_cast<float*>(data)[i] = value;
      return;
  }
}

void store_tile_row(const GemmTask& task, int64_t m, int64_t n0, const float* totals) {
  for (int64_t lane = 0; lane < kTileN && n0 + lane < task.n; ++lane) {
    float y = task.x_scales[m] * totals[lane];
    if (task.bias != nullptr) y += load_element(task.bias, task.bias_type, n0 + lane);
    store_element(task.y, task.y_type, m * task.ldy + n0 + lane, y);
  }
}

// Scratch: totals [m][16], then the panel of a group.
int64_t scratch_bytes(int64_t m, int64_t, int64_t group) { return (m + group) * kTileN * 4; }

void run(const GemmTask& task, int64_t tile_begin, int64_t tile_end, void* scratch) {
  auto* totals = static_cast<float*>(scratch);
  float* panel = totals + task.m * kTileN;
  const int64_t groups = groups_of(task);
  for (int64_t tile = tile_begin; tile < tile_end; ++tile) {
    const uint8_t* codes = task.codes + tile * (task.k / kBlockK) * kBlockBytes;
    for (int64_t i = 0; i < task.m * kTileN; ++i) totals[i] = 0.0f;
    for (int64_t g = 0; g < groups; ++g) {
      const BlockRange range = group_blocks(task, g);
      const int64_t count = (range.end - range.begin) * kBlockK;
      unpack(task.format, codes + range.begin * kBlockBytes, range.end - range.begin, panel);
      float scales[kTileN];
      for (int lane = 0; lane < kTileN; ++lane) {
        scales[lane] = load_scale(task, (tile * groups + g) * kTileN + lane);
      }
      for (int64_t m = 0; m < task.m; ++m) {
        const auto* x =
            reinterpret_cast<const float*>(task.rows + m * task.row_bytes) + range.begin * kBlockK;
        float sum[kTileN] = {};
        for (int64_t k = 0; k < count; ++k) {
          for (int lane = 0; lane < kTileN; ++lane) sum[lane] += x[k] * panel[k * kTileN + lane];
        }
        for (int lane = 0; lane < kTileN; ++lane) {
          totals[m * kTileN + lane] += scales[lane] * sum[lane];
        }
      }
    }
    for (int64_t m = 0; m < task.m; ++m) {
      store_tile_row(task, m, tile * kTileN, totals + m * kTileN);
    }
  }
}

uint64_t stream_read(const uint8_t* data, int64_t bytes) {
  const auto* words = reinterpret_cast<const uint64_t*>(data);
  uint64_t seen[8] = {};
  for (int64_t i = 0; i < bytes / 64; ++i) {
    for (int j = 0; j < 8; ++j) seen[j] ^= words[i * 8 + j];
  }
  for (int j = 1; j < 8; ++j) seen[0] ^= seen[j];
  return seen[0];
}

constexpr int kLanes = 4, kChains = 12;

float peak(int64_t iterations) {
  using Vector = float __attribute__((vector_size(4 * kLanes)));
  Vector sum[kChains] = {};
  Vector factor = {1.0f, 1.0f, 1.0f, 1.0f};
  for (int64_t it = 0; it < iterations; ++it) {
    asm volatile("" : "+x"(factor));  // keeps the loop, costs nothing
#pragma GCC unroll 12
    for (int i = 0; i < kChains; ++i) sum[i] += factor * factor;
  }
  for (int i = 1; i < kChains; ++i) sum[0] += sum[i];
  return sum[0][0];
}

constexpr PeakKernel kPeak = {"mulps + addps", peak, kLanes* kChains};

// One kernel under both names, so that suites which ask for one or the other find it.
constexpr GemmKernel kGemm[] = {
    {"decode/portable", 64, RowForm::kF32, 512, 1, scratch_bytes, run, &kPeak},
    {"prefill/portable", kAnyM, RowForm::kF32, 512, 1, scratch_bytes, run, &kPeak}};
constexpr RowKernels kRows = {quantize_row, group_sums, expand_row};

}  // namespace

constinit const ArchKernels kPortableKernels = {kGemm, 2, &kRows, stream_read};

}  // namespace radiance::cpu
