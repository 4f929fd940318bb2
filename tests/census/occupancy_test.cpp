#include "census/occupancy.hpp"

#include <gtest/gtest.h>

namespace radiance::census {
namespace {

TEST(Occupancy, Registers) {
  const auto waves = [](int vgprs) { return occupancy({vgprs, 0, 256, true}); };
  EXPECT_EQ(waves(0), 16);
  EXPECT_EQ(waves(96), 16);
  EXPECT_EQ(waves(97), 12);
  EXPECT_EQ(waves(120), 12);
  EXPECT_EQ(waves(121), 10);
  EXPECT_EQ(waves(144), 10);
  EXPECT_EQ(waves(145), 9);
  EXPECT_EQ(waves(192), 8);
  EXPECT_EQ(waves(193), 7);
  EXPECT_EQ(waves(256), 5);
}

// Nine waves a SIMD are 36, of which four workgroups of eight take 32.
TEST(Occupancy, OnlyWholeWorkgroupsStand) {
  EXPECT_EQ(allocated_occupancy({145, 0, 256, true}), 8);
  EXPECT_EQ(allocated_occupancy({145, 0, 128, true}), 9);
  EXPECT_EQ(allocated_occupancy({256, 0, 256, true}), 4);
}

// Figures of clang 22 for the seed's kernels, of 256 threads.
TEST(Occupancy, OfTheSeedsKernels) {
  struct Kernel {
    int vgprs, lds_bytes, waves, allocated;
  };
  for (const Kernel& kernel : {Kernel{81, 19584, 12, 12},
                               {104, 21760, 12, 10},
                               {142, 23936, 10, 10},
                               {141, 26112, 10, 8},
                               {128, 23040, 10, 10},
                               {236, 27648, 6, 6}}) {
    const Resources resources{kernel.vgprs, kernel.lds_bytes, 256, true};
    EXPECT_EQ(occupancy(resources), kernel.waves) << kernel.lds_bytes;
    EXPECT_EQ(allocated_occupancy(resources), kernel.allocated) << kernel.lds_bytes;
  }
}

// Three times 43520 bytes fit into 128 KB, three times the 44032 that they take do not.
TEST(Occupancy, LdsIsHandedOutInKilobytes) {
  EXPECT_EQ(occupancy({100, 43520, 256, true}), 6);
  EXPECT_EQ(occupancy({100, 44032, 256, true}), 4);
  EXPECT_EQ(allocated_occupancy({100, 43008, 256, true}), 6);
  EXPECT_EQ(allocated_occupancy({100, 43520, 256, true}), 4);
}

TEST(Occupancy, ComputeUnitModeHalvesThePool) {
  EXPECT_EQ(occupancy({64, 32768, 256, true}), 8);
  EXPECT_EQ(occupancy({64, 32768, 256, false}), 8);
  EXPECT_EQ(occupancy({64, 40960, 256, true}), 6);
  EXPECT_EQ(occupancy({64, 40960, 256, false}), 4);
}

// What clang 22 prints for workgroups of one size.
TEST(Occupancy, AsTheCompilerReckons) {
  struct Case {
    int threads, lds_bytes, waves;
  };
  for (const Case& c :
       {Case{32, 4, 16},  {32, 8000, 4},   {32, 19584, 2},   {32, 40000, 1},   {64, 4, 16},
        {64, 8000, 8},    {64, 19584, 3},  {64, 40000, 2},   {64, 60000, 1},   {128, 8000, 16},
        {128, 19584, 6},  {128, 26112, 5}, {128, 40000, 3},  {128, 60000, 2},  {256, 19584, 12},
        {256, 26112, 10}, {256, 40000, 6}, {256, 60000, 4},  {512, 26112, 16}, {512, 40000, 12},
        {512, 60000, 8},  {1024, 4, 16},   {1024, 60000, 16}}) {
    EXPECT_EQ(occupancy({9, c.lds_bytes, c.threads, true}), c.waves)
        << c.threads << " threads, " << c.lds_bytes << " bytes";
  }
}

TEST(Occupancy, ImpossibleWorkgroups) {
  EXPECT_EQ(allocated_occupancy({256, 0, 1024, true}), 0);  // 32 waves need 8 a SIMD
  EXPECT_EQ(occupancy({32, 140000, 64, true}), 0);
}

}  // namespace
}  // namespace radiance::census
