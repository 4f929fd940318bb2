#include "lab/rotation.hpp"

#include <gtest/gtest.h>

#include <set>

namespace radiance::lab {
namespace {

TEST(Rotation, CopiesPassTheLastCacheOfACardEightTimes) {
  DeviceInfo info;
  info.name = "cuda:0";
  info.memory_bytes = uint64_t{64} << 30;
  info.last_cache_bytes = 64 << 20;
  for (const size_t bytes : {size_t{1} << 20, size_t{46} << 20, size_t{1} << 30}) {
    const int copies = automatic_copies(info, bytes);
    EXPECT_GE(copies, 2);
    EXPECT_GT(static_cast<uint64_t>(copies) * bytes, 8 * info.last_cache_bytes);
  }
  // Within half of the memory.
  info.memory_bytes = uint64_t{200} << 20;
  EXPECT_EQ(automatic_copies(info, 20 << 20), 5);
  info.last_cache_bytes = 0;
  EXPECT_EQ(automatic_copies(info, 20 << 20), 2);
}

TEST(Rotation, CopiesPassTheLastCacheOfAProcessorTwice) {
  DeviceInfo info;
  info.name = "cpu:avx2";
  info.last_cache_bytes = 8 << 20;
  EXPECT_EQ(automatic_copies(info, 1 << 20), 17);
}

TEST(Rotation, TakesEveryCopyInTurn) {
  const Engine engine("cpu:portable");
  Random random(61);
  WeightRotation weights(engine, random_int4_weight(random, 32, 64, 32), 3);
  EXPECT_EQ(weights.copies(), 3);
  EXPECT_EQ(weights.working_set_bytes(), 3 * weights.packed_bytes());
  std::set<const void*> seen;
  for (int i = 0; i < 3; ++i) seen.insert(weights.next_buffer().get());
  EXPECT_EQ(seen.size(), 3u);
  const void* first = weights.next_buffer().get();
  EXPECT_TRUE(seen.count(first));
}

}  // namespace
}  // namespace radiance::lab
