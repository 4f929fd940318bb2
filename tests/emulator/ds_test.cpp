#include <gtest/gtest.h>

#include <array>
#include <functional>
#include <random>
#include <string>

#include "tests/emulator/lane_program.hpp"

namespace radiance::emulator::testing {
namespace {

uint32_t pattern(uint32_t lane, uint32_t r) { return 0x9e3779b9u * (lane + 1) + 0x85ebca6bu * r; }

std::vector<Lanes> patterns(unsigned count) {
  std::vector<Lanes> out;
  for (unsigned r = 0; r < count; ++r) {
    out.push_back(make_lanes([&](int i) { return pattern(static_cast<uint32_t>(i), r); }));
  }
  return out;
}

// v8..v11 go to LDS at 32 * lane (ds_store_b128), the test reads from there into v40....
LaneResults read_back(const std::string& body, unsigned results) {
  LaneProgram p;
  p.inputs = patterns(4);
  p.results = results;
  p.body = "v_lshlrev_b32 v2, 5, v0\nds_store_b128 v2, v[8:11]\n" + body;
  return run(p);
}

// Byte `b` of what lane `lane` stored.
uint32_t byte_at(int lane, int b) {
  return pattern(static_cast<uint32_t>(lane), static_cast<uint32_t>(b / 4)) >> (8 * (b % 4)) & 255;
}

struct NarrowCase {
  const char* text;
  int bytes;
  bool is_signed;
  int half;  // -1: whole register, 0: low, 1: high
};

TEST(Ds, LoadsNarrowForms) {
  const NarrowCase cases[] = {
      {"ds_load_u8", 1, false, -1},      {"ds_load_i8", 1, true, -1},
      {"ds_load_u16", 2, false, -1},     {"ds_load_i16", 2, true, -1},
      {"ds_load_u8_d16", 1, false, 0},   {"ds_load_i8_d16", 1, true, 0},
      {"ds_load_u16_d16", 2, false, 0},  {"ds_load_u8_d16_hi", 1, false, 1},
      {"ds_load_i8_d16_hi", 1, true, 1}, {"ds_load_u16_d16_hi", 2, false, 1},
  };
  for (const NarrowCase& c : cases) {
    const auto r = read_back(std::string(c.text) + " v40, v2 offset:6\n", 1);
    ASSERT_EQ(r.error, "") << c.text;
    for (int i = 0; i < kLanes; ++i) {
      uint32_t v = byte_at(i, 6);
      if (c.bytes == 2) v |= byte_at(i, 7) << 8;
      if (c.is_signed) {
        v = static_cast<uint32_t>(c.bytes == 1 ? static_cast<int8_t>(v) : static_cast<int16_t>(v));
      }
      if (c.half == 0) v = v & 0xffffu;
      if (c.half == 1) v = (v << 16) | 0x5eed;
      EXPECT_EQ(r.v[0][i], v) << c.text << " lane " << i;
    }
  }
}

TEST(Ds, LoadsWideForms) {
  struct Case {
    const char* text;
    unsigned registers;
  };
  for (const Case& c : {Case{"ds_load_b32 v40, v2", 1},
                        {"ds_load_b64 v[40:41], v2", 2},
                        {"ds_load_b96 v[40:42], v2", 3},
                        {"ds_load_b128 v[40:43], v2", 4}}) {
    const auto r = read_back(c.text, c.registers);
    ASSERT_EQ(r.error, "") << c.text;
    for (unsigned k = 0; k < c.registers; ++k) {
      for (int i = 0; i < kLanes; ++i) {
        EXPECT_EQ(r.v[k][i], pattern(static_cast<uint32_t>(i), k)) << c.text;
      }
    }
  }
}

TEST(Ds, LoadsTwoAddresses) {
  const auto pair = read_back("ds_load_2addr_b32 v[40:41], v2 offset0:3 offset1:1\n", 2);
  const auto wide = read_back("ds_load_2addr_b64 v[40:43], v2 offset0:1\n", 4);
  for (int i = 0; i < kLanes; ++i) {
    const auto lane = static_cast<uint32_t>(i);
    EXPECT_EQ(pair.v[0][i], pattern(lane, 3));
    EXPECT_EQ(pair.v[1][i], pattern(lane, 1));
    for (uint32_t k = 0; k < 4; ++k) EXPECT_EQ(wide.v[k][i], pattern(lane, (k + 2) % 4));
  }
  // 64 dwords on is 8 lanes on; 64 qwords is 16.
  const auto far = read_back(
      "v_and_b32 v3, 7, v0\nv_lshlrev_b32 v3, 5, v3\n"
      "ds_load_2addr_stride64_b32 v[40:41], v3 offset0:1 offset1:3\n"
      "v_mov_b32 v4, 0\n"
      "ds_load_2addr_stride64_b64 v[42:45], v4 offset1:1\n",
      6);
  ASSERT_EQ(far.error, "");
  for (int i = 0; i < kLanes; ++i) {
    const auto lane = static_cast<uint32_t>(i % 8);
    EXPECT_EQ(far.v[0][i], pattern(lane + 8, 0));
    EXPECT_EQ(far.v[1][i], pattern(lane + 24, 0));
    EXPECT_EQ(far.v[2][i], pattern(0, 0));
    EXPECT_EQ(far.v[3][i], pattern(0, 1));
    EXPECT_EQ(far.v[4][i], pattern(16, 0));
    EXPECT_EQ(far.v[5][i], pattern(16, 1));
  }
}

TEST(Ds, StoresEveryForm) {
  struct Case {
    const char* text;
    int first, count;  // bytes of the lane's 16 that change, counted from its address
    int source;        // byte of v12... that the first comes from
  };
  const Case cases[] = {
      {"ds_store_b8 v2, v12 offset:5", 5, 1, 0},
      {"ds_store_b16 v2, v12 offset:6", 6, 2, 0},
      {"ds_store_b8_d16_hi v2, v12 offset:5", 5, 1, 2},
      {"ds_store_b16_d16_hi v2, v12 offset:6", 6, 2, 2},
      {"ds_store_b32 v2, v12 offset:4", 4, 4, 0},
      {"ds_store_b64 v2, v[12:13] offset:8", 8, 8, 0},
      {"ds_store_b96 v2, v[12:14]", 0, 12, 0},
      {"ds_store_b128 v2, v[12:15]", 0, 16, 0},
      {"ds_store_2addr_b64 v2, v[12:13], v[14:15] offset1:1", 0, 16, 0},
      {"ds_store_2addr_b32 v2, v12, v13 offset0:1 offset1:2", 4, 8, 0},
  };
  for (const Case& c : cases) {
    LaneProgram p;
    p.inputs = patterns(8);
    p.results = 4;
    p.body = std::string("v_lshlrev_b32 v2, 5, v0\nds_store_b128 v2, v[8:11]\n") + c.text +
             "\nds_load_b128 v[40:43], v2\n";
    const auto r = run(p);
    ASSERT_EQ(r.error, "") << c.text;
    for (int i = 0; i < kLanes; ++i) {
      for (int b = 0; b < 16; ++b) {
        uint32_t due = byte_at(i, b);
        if (b >= c.first && b < c.first + c.count) due = byte_at(i, 16 + b - c.first + c.source);
        EXPECT_EQ(r.v[static_cast<size_t>(b / 4)][i] >> (8 * (b % 4)) & 255, due)
            << c.text << " lane " << i << " byte " << b;
      }
    }
  }
}

TEST(Ds, OnlyActiveLanesTakePart) {
  const auto r = read_back("s_mov_b32 exec_lo, 0x0f0f00f1\nds_load_b128 v[40:43], v2\n", 4);
  ASSERT_EQ(r.error, "");
  for (int i = 0; i < kLanes; ++i) {
    for (uint32_t k = 0; k < 4; ++k) {
      const bool active = 0x0f0f00f1u >> i & 1;
      EXPECT_EQ(r.v[k][i], active ? pattern(static_cast<uint32_t>(i), k) : 0x5eedu);
    }
  }
}

// What the hardware does; strict mode stops instead.
TEST(Ds, BeyondLdsReadsZeroAndStoresNothing) {
  const auto r = read_back(
      "v_add_nc_u32 v3, 0xfe0, v2\nds_store_b32 v3, v8\nds_load_b32 v40, v3\n"
      "v_mov_b32 v4, 0xfe0\nds_load_b32 v41, v4\n",
      2);
  ASSERT_EQ(r.error, "");
  for (int i = 0; i < kLanes; ++i) {
    EXPECT_EQ(r.v[0][i], i == 0 ? pattern(0, 0) : 0u);
    EXPECT_EQ(r.v[1][i], pattern(0, 0));
  }
}

TEST(Ds, CountsBytesAndConflicts) {
  const auto free = read_back("ds_load_b32 v40, v1\n", 1);
  // The store of 16 bytes at 32 * lane: two lanes of each group of eight in each place.
  EXPECT_EQ(free.counters.lds_store.bytes, 512u);
  EXPECT_EQ(free.counters.lds_load.bytes, 128u);
  EXPECT_EQ(free.counters.lds_load.instructions, 1u);
  EXPECT_EQ(free.counters.lds_bank_conflict_cycles, 4u);
  const auto busy = read_back("ds_load_b32 v40, v2\n", 1);  // eight lanes in each of four banks
  EXPECT_EQ(busy.counters.lds_bank_conflict_cycles, 4u + 7u);
}

// --- Lane exchanges
// ----------------------------------------------------------------------------------

LaneResults exchange(const std::string& body) {
  LaneProgram p;
  p.inputs = {make_lanes([](int i) { return 100 + i; }),
              make_lanes([](int i) { return (7 * i + 3) % 32; })};
  p.body = "v_lshlrev_b32 v10, 2, v9\n" + body;
  return run(p);
}

TEST(DsPermute, Bpermute) {
  const auto all = exchange("ds_bpermute_b32 v40, v10, v8\n");
  const auto moved = exchange("ds_bpermute_b32 v40, v10, v8 offset:8\n");
  const auto some = exchange("s_mov_b32 exec_lo, 0xffff\nds_bpermute_b32 v40, v10, v8\n");
  const auto fetched = exchange("s_mov_b32 exec_lo, 0xffff\nds_bpermute_fi_b32 v40, v10, v8\n");
  for (int i = 0; i < kLanes; ++i) {
    const auto from = static_cast<uint32_t>((7 * i + 3) % 32);
    EXPECT_EQ(all.v[0][i], 100 + from);
    EXPECT_EQ(moved.v[0][i], 100 + (from + 2) % 32);
    EXPECT_EQ(some.v[0][i], i >= 16 ? 0x5eedu : from >= 16 ? 0 : 100 + from);
    EXPECT_EQ(fetched.v[0][i], i >= 16 ? 0x5eedu : 100 + from);
  }
}

TEST(DsPermute, Permute) {
  const auto all = exchange("ds_permute_b32 v40, v10, v8\n");
  const auto some = exchange("s_mov_b32 exec_lo, 0xff\nds_permute_b32 v40, v10, v8\ns_nop 0\n");
  const auto collide = exchange("v_mov_b32 v10, 20\nds_permute_b32 v40, v10, v8\n");
  for (int i = 0; i < kLanes; ++i) {
    const int to = (7 * i + 3) % 32;
    EXPECT_EQ(all.v[0][to], static_cast<uint32_t>(100 + i));
    EXPECT_EQ(collide.v[0][i], i == 5 ? 131u : 0u);
    // Only the first eight lanes send and receive.
    if (i < 8 && to < 8) {
      EXPECT_EQ(some.v[0][to], static_cast<uint32_t>(100 + i));
    }
    if (i >= 8) {
      EXPECT_EQ(some.v[0][i], 0x5eedu);
    }
  }
}

TEST(DsPermute, SwizzlePatterns) {
  struct Case {
    const char* text;
    std::function<int(int)> source;
  };
  const Case cases[] = {
      {"swizzle(QUAD_PERM,3,0,2,1)",
       [](int i) { return (i & ~3) | std::array{3, 0, 2, 1}[static_cast<size_t>(i & 3)]; }},
      {"swizzle(SWAP,4)", [](int i) { return i ^ 4; }},
      {"swizzle(REVERSE,8)", [](int i) { return i ^ 7; }},
      {"swizzle(BROADCAST,8,5)", [](int i) { return (i & ~7) | 5; }},
      {"swizzle(BITMASK_PERM,\"01pi0\")", [](int i) { return 8 | (i & 4) | ((i & 2) ^ 2); }},
      {"swizzle(ROTATE,0,3)", [](int i) { return (i + 3) % 32; }},
      {"swizzle(ROTATE,1,3)", [](int i) { return (i + 29) % 32; }},
  };
  for (const Case& c : cases) {
    const auto r = exchange(std::string("ds_swizzle_b32 v40, v8 offset:") + c.text + "\n");
    ASSERT_EQ(r.error, "") << c.text;
    for (int i = 0; i < kLanes; ++i) {
      EXPECT_EQ(r.v[0][i], static_cast<uint32_t>(100 + c.source(i))) << c.text << " lane " << i;
    }
  }
}

}  // namespace
}  // namespace radiance::emulator::testing
