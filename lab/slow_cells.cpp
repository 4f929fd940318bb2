#include "lab/slow_cells.hpp"

#include <algorithm>

#include "lab/elements.hpp"

namespace radiance::lab {

namespace {

const BenchRow* next_larger(const std::vector<BenchRow>& rows, const BenchRow& row) {
  const BenchRow* next = nullptr;
  for (const BenchRow& other : rows) {
    if (other.shape.name != row.shape.name || other.format != row.format ||
        other.scope != row.scope || other.m <= row.m) {
      continue;
    }
    if (next == nullptr || other.m < next->m) next = &other;
  }
  return next;
}

}  // namespace

std::vector<SlowCell> slow_cells(const std::vector<BenchRow>& rows) {
  std::vector<SlowCell> cells;
  for (const BenchRow& row : rows) {
    if (row.m > kBetweenRows) continue;
    const auto best =
        std::min_element(row.rivals.begin(), row.rivals.end(),
                         [](const RivalResult& a, const RivalResult& b) { return a.us < b.us; });
    if (best != row.rivals.end() && row.us > best->us)
      cells.push_back({&row, best->name, best->us});
    const BenchRow* next = next_larger(rows, row);
    if (next != nullptr && row.us > kNextAllowance * next->us) {
      cells.push_back({&row, "M=" + std::to_string(next->m), next->us});
    }
  }
  return cells;
}

nlohmann::json to_json(const std::vector<SlowCell>& cells) {
  nlohmann::json array = nlohmann::json::array();
  for (const SlowCell& cell : cells) {
    array.push_back({{"shape", cell.row->shape.name},
                     {"format", format_name(cell.row->format)},
                     {"scope", scope_name(cell.row->scope)},
                     {"config", cell.row->config},
                     {"M", cell.row->m},
                     {"us", cell.row->us},
                     {"against", cell.against},
                     {"other_us", cell.other_us},
                     {"ratio", cell.ratio()}});
  }
  return array;
}

}  // namespace radiance::lab
