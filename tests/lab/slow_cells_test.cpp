#include "lab/slow_cells.hpp"

#include <gtest/gtest.h>

namespace radiance::lab {
namespace {

BenchRow row_of(int64_t m, double us, double fp8 = 0, double bf16 = 0) {
  BenchRow row;
  row.shape = bench_shape("gate_up");
  row.m = m;
  row.us = us;
  const auto add = [&](const char* name, double their_us) {
    if (their_us == 0) return;
    RivalResult rival;
    rival.name = name;
    rival.us = their_us;
    row.rivals.push_back(rival);
  };
  add("fp8", fp8);
  add("bf16", bf16);
  return row;
}

TEST(SlowCells, NoneWhereTimesGrowAndRivalsAreSlower) {
  EXPECT_TRUE(
      slow_cells({row_of(1, 10, 20, 30), row_of(2, 10, 20, 30), row_of(3, 9.8, 20, 9.9)}).empty())
      << "two per cent may be noise";
}

TEST(SlowCells, ComparesWithTheBestRivalOnly) {
  const std::vector<BenchRow> rows = {row_of(64, 25, 30, 20)};
  const std::vector<SlowCell> cells = slow_cells(rows);
  ASSERT_EQ(cells.size(), 1u);
  EXPECT_EQ(cells[0].against, "bf16");
  EXPECT_DOUBLE_EQ(cells[0].ratio(), 1.25);
}

TEST(SlowCells, ComparesWithTheNextLargerRowsOfTheSameScopeAndShape) {
  std::vector<BenchRow> rows = {row_of(16, 20), row_of(24, 15), row_of(32, 15.1)};
  rows.push_back(row_of(18, 1));
  rows.back().scope = Scope::kOp;
  rows.push_back(row_of(18, 1));
  rows.back().shape = bench_shape("down");
  const std::vector<SlowCell> cells = slow_cells(rows);
  ASSERT_EQ(cells.size(), 1u);
  EXPECT_EQ(cells[0].row, rows.data());
  EXPECT_EQ(cells[0].against, "M=24");
}

TEST(SlowCells, PrefillIsNotAmongThem) {
  EXPECT_TRUE(slow_cells({row_of(256, 100, 50), row_of(512, 60, 100)}).empty());
  EXPECT_EQ(slow_cells({row_of(192, 100), row_of(256, 60, 70)}).size(), 1u)
      << "but it may be what is next larger";
}

TEST(SlowCells, AsJson) {
  const std::vector<BenchRow> rows = {row_of(64, 25, 30, 20)};
  const nlohmann::json cells = to_json(slow_cells(rows));
  ASSERT_EQ(cells.size(), 1u);
  for (const char* field :
       {"shape", "format", "scope", "config", "M", "us", "against", "other_us", "ratio"}) {
    EXPECT_TRUE(cells[0].contains(field)) << field;
  }
  EXPECT_TRUE(to_json(slow_cells({})).is_array());
}

}  // namespace
}  // namespace radiance::lab
