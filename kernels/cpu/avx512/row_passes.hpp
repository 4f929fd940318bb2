// How the kernels of few rows go through a product: all rows in even passes, the tiles of a pass
// several side by side (streams), each stream a run of neighbouring tiles.
#pragma once

#include <array>
#include <cstddef>
#include <utility>

#include "kernels/cpu/gemm_kernel.hpp"

namespace radiance::cpu {
namespace {

// Kernel::kMaxRows: of a pass. Kernel::streams_of(rows): how many. Kernel::run<format, rows,
// streams>(task, m0, tile, stride): rows from m0 on with the tiles tile + i * stride.
template <typename Kernel, Format format, int rows>
void run_pass(const GemmTask& task, int64_t m0, int64_t tile_begin, int64_t tile_end) {
  constexpr int streams = Kernel::streams_of(rows);
  const int64_t stride = (tile_end - tile_begin) / streams;
  for (int64_t t = 0; t < stride; ++t) {
    Kernel::template run<format, rows, streams>(task, m0, tile_begin + t, stride);
  }
  for (int64_t t = tile_begin + stride * streams; t < tile_end; ++t) {
    Kernel::template run<format, rows, 1>(task, m0, t, 0);
  }
}

template <typename Kernel, Format format>
void run_passes(const GemmTask& task, int64_t tile_begin, int64_t tile_end) {
  using Pass = void (*)(const GemmTask&, int64_t, int64_t, int64_t);
  static constexpr auto run = []<int... i>(std::integer_sequence<int, i...>) {
    return std::array<Pass, sizeof...(i)>{run_pass<Kernel, format, i + 1>...};
  }(std::make_integer_sequence<int, Kernel::kMaxRows>());
  int64_t m0 = 0;
  for (int64_t passes = (task.m + Kernel::kMaxRows - 1) / Kernel::kMaxRows; passes > 0; --passes) {
    const int64_t rows = even_share(task.m - m0, passes);
    run[static_cast<size_t>(rows - 1)](task, m0, tile_begin, tile_end);
    m0 += rows;
  }
}

template <typename Kernel>
void run_passes(const GemmTask& task, int64_t tile_begin, int64_t tile_end) {
  if (task.format == Format::kInt4) {
    run_passes<Kernel, Format::kInt4>(task, tile_begin, tile_end);
  } else {
    run_passes<Kernel, Format::kMxfp4>(task, tile_begin, tile_end);
  }
}

}  // namespace
}  // namespace radiance::cpu
