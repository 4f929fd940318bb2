#include <gtest/gtest.h>

#include <random>
#include <string>

#include "tests/emulator/lane_program.hpp"

namespace radiance::emulator::testing {
namespace {

std::vector<uint32_t> random_words(size_t count) {
  std::mt19937 rng(17);
  std::vector<uint32_t> out(count);
  for (uint32_t& w : out) w = static_cast<uint32_t>(rng());
  return out;
}

uint32_t byte_of(const std::vector<uint32_t>& words, size_t b) {
  return words[b / 4] >> (8 * (b % 4)) & 255;
}

// v2: 16 * lane; v[4:5]: the address of memory + 16 * lane; v[6:7] the same for flat instructions.
LaneProgram with_addresses(const std::string& body, unsigned results) {
  LaneProgram p;
  p.memory = random_words(1024);
  p.results = results;
  p.inputs = {make_lanes([](int i) { return 0x01234567 * (i + 1); }),
              make_lanes([](int i) { return 0x9abcdef1 + 77 * i; }),
              make_lanes([](int i) { return 0x2468ace0 - 5 * i; }),
              make_lanes([](int i) { return 0x13579bdf ^ (i << 9); })};
  p.body =
      "v_lshlrev_b32 v2, 4, v0\nv_mov_b32 v4, s8\nv_mov_b32 v5, s9\n"
      "v_add_co_u32 v4, vcc_lo, v4, v2\nv_add_co_ci_u32_e64 v5, vcc_lo, 0, v5, vcc_lo\n" +
      body;
  return p;
}

struct NarrowCase {
  const char* name;
  int bytes;
  bool is_signed;
  int half;
};
constexpr NarrowCase kNarrow[] = {
    {"load_u8", 1, false, -1},      {"load_i8", 1, true, -1},
    {"load_u16", 2, false, -1},     {"load_i16", 2, true, -1},
    {"load_d16_u8", 1, false, 0},   {"load_d16_i8", 1, true, 0},
    {"load_d16_b16", 2, false, 0},  {"load_d16_hi_u8", 1, false, 1},
    {"load_d16_hi_i8", 1, true, 1}, {"load_d16_hi_b16", 2, false, 1},
};

uint32_t narrow_value(const NarrowCase& c, const std::vector<uint32_t>& memory, size_t at) {
  uint32_t v = byte_of(memory, at);
  if (c.bytes == 2) v |= byte_of(memory, at + 1) << 8;
  if (c.is_signed) {
    v = static_cast<uint32_t>(c.bytes == 1 ? static_cast<int8_t>(v) : static_cast<int16_t>(v));
  }
  if (c.half == 0) return v & 0xffffu;  // over 0x5eed, whose upper half is zero
  if (c.half == 1) return v << 16 | 0x5eed;
  return v;
}

// All narrow forms in one kernel, for the address forms of global and flat.
TEST(Global, LoadsNarrowForms) {
  for (const char* family : {"global", "flat"}) {
    std::string body;
    unsigned r = 40;
    for (const NarrowCase& c : kNarrow) {
      body += std::string(family) + "_" + c.name + " v" + std::to_string(r++) + ", v[4:5]" +
              (family[0] == 'g' ? ", off" : "") + " offset:6\n";
    }
    const auto p = with_addresses(body, 10);
    const auto result = run(p);
    ASSERT_EQ(result.error, "");
    for (size_t k = 0; k < 10; ++k) {
      for (int i = 0; i < kLanes; ++i) {
        EXPECT_EQ(result.v[k][i],
                  narrow_value(kNarrow[k], p.memory, 16 * static_cast<size_t>(i) + 6))
            << family << "_" << kNarrow[k].name << " lane " << i;
      }
    }
  }
}

TEST(Global, LoadsWideFormsWithEveryAddress) {
  const auto p = with_addresses(
      "global_load_b32 v40, v[4:5], off offset:4\n"
      "global_load_b64 v[41:42], v2, s[8:9] offset:8 th:TH_LOAD_NT scope:SCOPE_DEV\n"
      "global_load_b96 v[43:45], v[4:5], off\n"
      "v_add_nc_u32 v3, 0x100, v2\n"
      "global_load_b128 v[46:49], v3, s[8:9] offset:-256\n"
      "flat_load_b128 v[50:53], v[4:5]\n"
      "global_load_b32 v54, v[4:5], off scope:SCOPE_SYS\n",
      15);
  const auto result = run(p);
  ASSERT_EQ(result.error, "");
  for (int i = 0; i < kLanes; ++i) {
    const auto word = [&](int k) { return p.memory[static_cast<size_t>(4 * i + k)]; };
    EXPECT_EQ(result.v[0][i], word(1));
    EXPECT_EQ(result.v[1][i], word(2));
    EXPECT_EQ(result.v[2][i], word(3));
    for (int k = 0; k < 3; ++k) EXPECT_EQ(result.v[static_cast<size_t>(3 + k)][i], word(k));
    for (int k = 0; k < 4; ++k) EXPECT_EQ(result.v[static_cast<size_t>(6 + k)][i], word(k));
    for (int k = 0; k < 4; ++k) EXPECT_EQ(result.v[static_cast<size_t>(10 + k)][i], word(k));
    EXPECT_EQ(result.v[14][i], word(0));
  }
}

TEST(Global, StoresEveryForm) {
  const auto p = with_addresses(
      "global_store_b8 v[4:5], v8, off\n"
      "global_store_d16_hi_b8 v[4:5], v8, off offset:1\n"
      "global_store_b16 v2, v9, s[8:9] offset:2\n"
      "global_store_d16_hi_b16 v2, v9, s[8:9] offset:4\n"
      "global_store_b32 v[4:5], v10, off offset:512 scope:SCOPE_DEV\n"
      "global_store_b64 v[4:5], v[8:9], off offset:1024 scope:SCOPE_SYS\n"
      "global_store_b96 v[4:5], v[8:10], off offset:1536\n"
      "global_store_b128 v[4:5], v[8:11], off offset:2048\n"
      "flat_store_b128 v[4:5], v[8:11] offset:2560\n"
      "flat_store_d16_hi_b16 v[4:5], v8 offset:3072\n"
      "s_mov_b32 exec_lo, 0x00ff0f0f\n"
      "global_store_b64 v[4:5], v[10:11], off offset:3584\n",
      1);
  const auto result = run(p);
  ASSERT_EQ(result.error, "");
  std::vector<uint32_t> due = p.memory;
  const auto poke = [&](size_t at, uint32_t value, size_t bytes) {
    for (size_t b = 0; b < bytes; ++b) {
      uint32_t& word = due[(at + b) / 4];
      const auto shift = static_cast<int>(8 * ((at + b) % 4));
      word = (word & ~(0xffu << shift)) | (value >> (8 * b) & 255) << shift;
    }
  };
  for (int i = 0; i < kLanes; ++i) {
    const size_t at = 16 * static_cast<size_t>(i);
    const auto in = [&](size_t k) { return p.inputs[k][i]; };
    poke(at, in(0), 1);
    poke(at + 1, in(0) >> 16, 1);
    poke(at + 2, in(1), 2);
    poke(at + 4, in(1) >> 16, 2);
    poke(at + 512, in(2), 4);
    for (size_t k = 0; k < 2; ++k) poke(at + 1024 + 4 * k, in(k), 4);
    for (size_t k = 0; k < 3; ++k) poke(at + 1536 + 4 * k, in(k), 4);
    for (size_t k = 0; k < 4; ++k) poke(at + 2048 + 4 * k, in(k), 4);
    for (size_t k = 0; k < 4; ++k) poke(at + 2560 + 4 * k, in(k), 4);
    poke(at + 3072, in(0) >> 16, 2);
    if (0x00ff0f0fu >> i & 1) {
      for (size_t k = 0; k < 2; ++k) poke(at + 3584 + 4 * k, in(2 + k), 4);
    }
  }
  EXPECT_EQ(result.memory, due);
}

// Lane l gets column l % 16 of a 16x16 tile, rows 8 * (l / 16)...; the tile's rows come from the
// lanes in the order 0, 1, 2, 3, 8, 9, ... (measured by others on the card, for bytes).
TEST(Global, TransposesBytes) {
  LaneProgram p =
      with_addresses("v_lshlrev_b32 v3, 3, v0\nglobal_load_tr_b64 v[40:41], v3, s[8:9]\n", 2);
  const auto result = run(p);
  ASSERT_EQ(result.error, "");
  for (int i = 0; i < kLanes; ++i) {
    for (int s = 0; s < 8; ++s) {
      const int base = (i & 7) + ((i >> 3) & 1) * 32 + ((i >> 4) & 1) * 128;
      const int from = base + (s & 3) * 8 + ((s >> 2) & 1) * 64;
      EXPECT_EQ(result.v[static_cast<size_t>(s / 4)][i] >> (8 * (s % 4)) & 255,
                byte_of(p.memory, static_cast<size_t>(from)));
    }
  }
}

TEST(Global, TransposesHalves) {
  LaneProgram p = with_addresses("global_load_tr_b128 v[40:43], v2, s[8:9]\n", 4);
  const auto result = run(p);
  ASSERT_EQ(result.error, "");
  for (int i = 0; i < kLanes; ++i) {
    for (int s = 0; s < 8; ++s) {
      const int lane = 4 * ((i >> 3) & 1) + 16 * (i >> 4) + (s & 3) + 8 * (s >> 2);
      const auto at = static_cast<size_t>(16 * lane + 2 * (i & 7));
      EXPECT_EQ(result.v[static_cast<size_t>(s / 2)][i] >> (16 * (s % 2)) & 0xffff,
                byte_of(p.memory, at) | byte_of(p.memory, at + 1) << 8);
    }
  }
}

TEST(Global, AtomicsWithAndWithoutResult) {
  LaneProgram p = with_addresses(
      "v_mov_b32 v3, 0\n"
      "global_atomic_add_u32 v3, v8, s[8:9] scope:SCOPE_DEV\n"
      "global_atomic_max_u32 v40, v[4:5], v8, off offset:512 th:TH_ATOMIC_RETURN\n"
      "global_atomic_swap_b64 v[41:42], v[4:5], v[8:9], off offset:1024 th:TH_ATOMIC_RETURN\n"
      "global_atomic_add_u32 v43, v3, v10, s[8:9] offset:4 th:TH_ATOMIC_RETURN\n"
      "flat_atomic_xor_b32 v44, v[4:5], v9 offset:2048 th:TH_ATOMIC_RETURN\n"
      "flat_atomic_sub_u32 v[4:5], v9 offset:2560\n"
      "v_mov_b32 v12, 0xc0ffee\nv_mov_b32 v13, v45\n"
      "global_load_b32 v13, v2, s[8:9] offset:3072\ns_wait_loadcnt 0x0\n"
      "global_atomic_cmpswap_b32 v45, v2, v[12:13], s[8:9] offset:3072 th:TH_ATOMIC_RETURN\n",
      6);
  const auto result = run(p);
  ASSERT_EQ(result.error, "");
  std::vector<uint32_t> due = p.memory;
  for (int i = 0; i < kLanes; ++i) {
    const auto at = static_cast<size_t>(4 * i);
    EXPECT_EQ(result.v[0][i], p.memory[128 + at]);
    EXPECT_EQ(result.v[1][i], p.memory[256 + at]);
    EXPECT_EQ(result.v[2][i], p.memory[257 + at]);
    EXPECT_EQ(result.v[3][i], due[1]);  // lanes add one after the other
    EXPECT_EQ(result.v[4][i], p.memory[512 + at]);
    EXPECT_EQ(result.v[5][i], p.memory[768 + at]);
    due[0] += p.inputs[0][i];
    due[1] += p.inputs[2][i];
    due[128 + at] = std::max(due[128 + at], p.inputs[0][i]);
    due[256 + at] = p.inputs[0][i];
    due[257 + at] = p.inputs[1][i];
    due[512 + at] ^= p.inputs[1][i];
    due[640 + at] -= p.inputs[1][i];
    due[768 + at] = 0xc0ffee;
  }
  EXPECT_EQ(result.memory, due);
}

TEST(Global, CountsBytesAndLines) {
  const auto result =
      run(with_addresses("global_load_b32 v40, v1, s[8:9]\n"
                         "global_load_b128 v[44:47], v2, s[8:9]\n"
                         "v_lshlrev_b32 v3, 7, v0\n"
                         "global_load_u8 v41, v3, s[8:9]\n"
                         "global_load_u8 v42, v3, s[8:9] offset:64\n",
                         3));
  ASSERT_EQ(result.error, "");
  // Four inputs of one line each come before; allocations begin on a line.
  EXPECT_EQ(result.counters.global_load.instructions, 8u);
  EXPECT_EQ(result.counters.global_load.bytes, 4 * 128u + 128 + 512 + 32 + 32);
  EXPECT_EQ(result.counters.global_load.lines, 4u + 1 + 4 + 32 + 32);
  EXPECT_EQ(result.counters.global_load.distinct_lines, 4u + 32);
  EXPECT_EQ(result.counters.global_store.distinct_lines, 3u);
}

TEST(Scratch, IsPrivateToLanes) {
  LaneProgram p = with_addresses(
      "v_and_b32 v3, 7, v0\nv_lshlrev_b32 v3, 2, v3\ns_mov_b32 s12, 32\n"
      "scratch_store_b128 off, v[8:11], off offset:64\n"
      "scratch_store_b32 v3, v0, off\n"
      "scratch_store_b16 v3, v9, s12\n"
      "scratch_load_b128 v[40:43], off, off offset:64\n"
      "scratch_load_b32 v44, v3, off\n"
      "scratch_load_u16 v45, v3, s12\n"
      "scratch_load_b64 v[46:47], off, s12 offset:40\n",
      8);
  p.scratch_bytes = 128;
  const auto result = run(p);
  ASSERT_EQ(result.error, "");
  for (int i = 0; i < kLanes; ++i) {
    for (size_t k = 0; k < 4; ++k) EXPECT_EQ(result.v[k][i], p.inputs[k][i]);
    EXPECT_EQ(result.v[4][i], static_cast<uint32_t>(i));
    EXPECT_EQ(result.v[5][i], p.inputs[1][i] & 0xffffu);
    EXPECT_EQ(result.v[6][i], p.inputs[2][i]);
    EXPECT_EQ(result.v[7][i], p.inputs[3][i]);
  }
}

// Flat addresses: even lanes in LDS, of the odd ones every other in scratch, the rest in global
// memory.
TEST(Flat, FollowsTheApertures) {
  LaneProgram p = with_addresses(
      "v_lshlrev_b32 v3, 4, v0\nds_store_b32 v3, v8\n"
      "scratch_store_b32 off, v9, off offset:16\n"
      "v_and_b32 v12, 1, v0\nv_cmp_eq_u32 s12, 0, v12\n"
      "v_and_b32 v12, 3, v0\nv_cmp_eq_u32 s13, 1, v12\n"
      "v_mov_b32 v13, v4\nv_mov_b32 v14, v5\n"
      "s_mov_b64 s[14:15], src_shared_base\ns_mov_b64 s[16:17], src_private_base\n"
      "v_mov_b32 v15, s15\nv_mov_b32 v16, s17\nv_mov_b32 v17, 16\n"
      "v_cndmask_b32_e64 v13, v13, v3, s12\nv_cndmask_b32_e64 v14, v14, v15, s12\n"
      "v_cndmask_b32_e64 v13, v13, v17, s13\nv_cndmask_b32_e64 v14, v14, v16, s13\n"
      "s_wait_dscnt 0x0\ns_wait_storecnt 0x0\n"
      "flat_load_b32 v40, v[13:14]\n"
      "s_wait_loadcnt_dscnt 0x0\n"
      "flat_atomic_add_u32 v41, v[13:14], v10 th:TH_ATOMIC_RETURN\n"
      "s_wait_loadcnt_dscnt 0x0\n"
      "flat_load_b32 v42, v[13:14]\n",
      3);
  p.scratch_bytes = 64;
  p.strict = true;
  const auto result = run(p);
  ASSERT_EQ(result.error, "");
  for (int i = 0; i < kLanes; ++i) {
    const uint32_t due = i % 2 == 0   ? p.inputs[0][i]
                         : i % 4 == 1 ? p.inputs[1][i]
                                      : p.memory[static_cast<size_t>(4 * i)];
    EXPECT_EQ(result.v[0][i], due) << i;
    EXPECT_EQ(result.v[1][i], due) << i;
    EXPECT_EQ(result.v[2][i], due + p.inputs[2][i]) << i;
  }
}

}  // namespace
}  // namespace radiance::emulator::testing
