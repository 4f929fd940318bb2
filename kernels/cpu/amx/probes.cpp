#include "kernels/cpu/amx/kernels.hpp"
#include "kernels/cpu/amx/tiles.hpp"

namespace radiance::cpu {
namespace {

float peak(int64_t iterations) {
  TileConfig config;
  for (int i = 0; i < 8; ++i) {
    config.row_bytes[i] = 64;
    config.rows[i] = 16;
  }
  load_config(config);
  alignas(64) float sums[kTileRows * kTileN] = {};
  _tile_loadd(4, sums, 64);
  _tile_loadd(5, sums, 64);
  _tile_loadd(6, sums, 64);
  _tile_loadd(7, sums, 64);
  _tile_zero(0);
  _tile_zero(1);
  _tile_zero(2);
  _tile_zero(3);
  for (int64_t it = 0; it < iterations; ++it) {
    _tile_dpbf16ps(0, 4, 6);
    _tile_dpbf16ps(1, 4, 7);
    _tile_dpbf16ps(2, 5, 6);
    _tile_dpbf16ps(3, 5, 7);
  }
  _tile_stored(0, sums, 64);
  _tile_release();
  return sums[0];
}

}  // namespace

const PeakKernel kAmxPeak = {"tdpbf16ps", peak, 4 * 16 * 16 * 32};

}  // namespace radiance::cpu
