// Stream-K: blocks share the slabs of some tiles evenly, in one line along k and then from tile to
// tile. A tile whose slabs lie in several blocks is finished by the last of these, which adds the
// sums of those before it in the order of k: the same bits however the blocks run. It waits only
// for blocks of lower numbers, which are dispatched before it, so the wait ends.
#pragma once

#include <cstdint>

#include "numerics/host_device.hpp"

namespace radiance::sm90 {

// The line of (tile, slab) places: block b does begin(b) .. begin(b + 1) - 1.
struct Line {
  int slabs, blocks, each, more;
  RADIANCE_HOST_DEVICE Line(int tiles, int slabs_of_tile, int blocks_of_grid)
      : slabs(slabs_of_tile),
        blocks(blocks_of_grid),
        each(tiles * slabs_of_tile / blocks_of_grid),
        more(tiles * slabs_of_tile % blocks_of_grid) {}
  RADIANCE_HOST_DEVICE int begin(int block) const {
    return block * each + (block < more ? block : more);
  }

  // The first block that has slabs of a tile which ends in `last`.
  RADIANCE_HOST_DEVICE int first_block(int tile, int last) const {
    while (begin(last) > tile * slabs) --last;
    return last;
  }
};

// A run of slabs of one tile.
struct Segment {
  int tile, slab, slabs;
  bool whole;  // the tile
  bool ends;   // it: the sums of its other slabs are added to this segment's
};

// What a block does, where the first `shared` of `tiles` are shared and the others are whole, one a
// block and round: begins a tile that another block ends, whole tiles, and ends a tile that others
// began. Its numbers lie in shared memory, as the loops over slabs leave no registers for them.
struct Plan {
  int begun, begun_slab, begun_slabs;  // none: no slabs
  int whole, wholes;
  int alone, alones, blocks;
  int ended, ended_slab, slabs;  // none: slab 0

  RADIANCE_HOST_DEVICE void make(const Line& line, int shared, int tiles, int block) {
    const int begin = line.begin(block), end = line.begin(block + 1);
    const int first = begin / line.slabs, slab = begin % line.slabs;
    const int last = end / line.slabs;
    const bool one = first == last;  // tile, which ends elsewhere
    begun = last;
    begun_slab = one ? slab : 0;
    begun_slabs = one ? end - begin : end % line.slabs;
    whole = first + (slab != 0);
    wholes = last > whole ? last - whole : 0;
    alone = shared + block;
    blocks = line.blocks;
    alones = alone < tiles ? (tiles - alone + blocks - 1) / blocks : 0;
    ended = first;
    ended_slab = one ? 0 : slab;
    slabs = line.slabs;
  }

  // The tile that another block ends, or -1.
  RADIANCE_HOST_DEVICE int contributed_tile() const { return begun_slabs > 0 ? begun : -1; }

  // The i'th segment: first what another block waits for, last what waits for others. False behind
  // it.
  RADIANCE_HOST_DEVICE bool segment(int i, Segment& s) const {
    if (begun_slabs > 0 && i-- == 0) {
      s = {begun, begun_slab, begun_slabs, false, false};
      return true;
    }
    if (i < wholes + alones) {
      s = {i < wholes ? whole + i : alone + (i - wholes) * blocks, 0, slabs, true, true};
      return true;
    }
    s = {ended, ended_slab, slabs - ended_slab, false, true};
    return ended_slab > 0 && i == wholes + alones;
  }
};

}  // namespace radiance::sm90
