// How many waves of a kernel a SIMD of gfx1201 holds.
#pragma once

namespace radiance::census {

struct Resources {
  int vgprs = 0;
  int lds_bytes = 0;
  int workgroup_size = 0;                // the largest that the kernel may be launched with
  bool workgroup_processor_mode = true;  // a workgroup may use both compute units of a pair
};

// Waves a SIMD, by the limits of gfx1201 in wave32: 1536 registers in granules of 24, 16 waves, and
// a workgroup processor of four SIMDs with 32 barriers and 128 KB of LDS (in compute unit mode half
// of each for two SIMDs). 0 if a workgroup does not fit. Each limit by itself, as clang reckons it
// (-Rpass-analysis=kernel-resource-usage).
int occupancy(const Resources& resources);

// The waves that can really stand there: only whole workgroups, and LDS in the 1024 bytes in which
// the hardware hands it out (Mesa's compiler: lds_alloc_granule, from gfx10.3 on). Less than
// occupancy() where a workgroup takes a few bytes more LDS than its waves could afford.
int allocated_occupancy(const Resources& resources);

}  // namespace radiance::census
