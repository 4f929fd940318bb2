#include "kernels/sm90/stream_k.hpp"

#include <gtest/gtest.h>

#include <map>
#include <utility>
#include <vector>

namespace radiance::sm90 {
namespace {

struct Case {
  int tiles, shared, slabs, blocks;
};

std::vector<Segment> segments(const Case& c, int block) {
  Plan plan;
  plan.make(Line(c.shared, c.slabs, c.blocks), c.shared, c.tiles, block);
  std::vector<Segment> all;
  Segment s{};
  for (int i = 0; plan.segment(i, s); ++i) all.push_back(s);
  return all;
}

// Every slab of every tile once; a shared tile's parts in blocks of rising numbers, of which the
// last ends it and the others do it first.
void check(const Case& c) {
  std::map<std::pair<int, int>, int> owner;
  std::map<int, int> ended_by;
  for (int block = 0; block < c.blocks; ++block) {
    const std::vector<Segment> all = segments(c, block);
    Plan plan;
    plan.make(Line(c.shared, c.slabs, c.blocks), c.shared, c.tiles, block);
    int contributed = -1;
    for (size_t i = 0; i < all.size(); ++i) {
      const Segment& s = all[i];
      ASSERT_GT(s.slabs, 0);
      for (int slab = s.slab; slab < s.slab + s.slabs; ++slab) {
        ASSERT_TRUE(owner.emplace(std::pair(s.tile, slab), block).second);
      }
      ASSERT_EQ(s.whole, s.slab == 0 && s.slabs == c.slabs);
      ASSERT_EQ(s.ends, s.slab + s.slabs == c.slabs);
      if (s.ends) {
        ASSERT_TRUE(ended_by.emplace(s.tile, block).second);
      } else {
        ASSERT_EQ(i, 0u);
        contributed = s.tile;
      }
      if (s.ends && !s.whole) {
        ASSERT_EQ(i + 1, all.size());
      }
    }
    ASSERT_EQ(plan.contributed_tile(), contributed);
  }
  ASSERT_EQ(owner.size(), static_cast<size_t>(c.tiles) * c.slabs);
  ASSERT_EQ(ended_by.size(), static_cast<size_t>(c.tiles));
  const Line line(c.shared, c.slabs, c.blocks);
  for (const auto& [tile, last] : ended_by) {
    if (tile >= c.shared) continue;
    ASSERT_EQ(line.first_block(tile, last), owner.at({tile, 0}));
    for (int slab = 1; slab < c.slabs; ++slab) {
      const int step = owner.at({tile, slab}) - owner.at({tile, slab - 1});
      ASSERT_TRUE(step == 0 || step == 1);  // a contribution of each block between
    }
  }
}

TEST(Sm90StreamK, EveryPlaceIsDoneOnceAndItsTileEndedByTheLast) {
  for (const int blocks : {1, 2, 7, 132}) {
    for (const int slabs : {1, 2, 3, 40, 68}) {
      for (const int tiles : {1, 2, 5, 40, 131, 132, 133, 263, 264, 400}) {
        for (const int shared : {0, 1, tiles % blocks, tiles % blocks + blocks, tiles}) {
          if (shared > tiles) continue;
          SCOPED_TRACE(testing::Message() << tiles << " tiles of " << slabs << " slabs, " << shared
                                          << " shared, " << blocks << " blocks");
          ASSERT_NO_FATAL_FAILURE(check({tiles, shared, slabs, blocks}));
        }
      }
    }
  }
}

}  // namespace
}  // namespace radiance::sm90
