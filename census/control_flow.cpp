#include "census/control_flow.hpp"

#include <algorithm>
#include <limits>
#include <map>
#include <optional>
#include <unordered_map>

namespace radiance::census {
namespace {

constexpr size_t kNone = std::numeric_limits<size_t>::max();

using AddressIndex = std::unordered_map<uint64_t, size_t>;

std::vector<Block> find_blocks(const std::vector<Instruction>& instructions) {
  AddressIndex at;
  for (size_t i = 0; i < instructions.size(); ++i) at.emplace(instructions[i].address, i);
  std::vector<bool> leads(instructions.size() + 1, false);
  leads[0] = true;
  const auto target_of = [&](const Instruction& instruction) -> std::optional<size_t> {
    if (instruction.flow != Flow::kBranch && instruction.flow != Flow::kConditionalBranch) {
      return std::nullopt;
    }
    const auto found = at.find(instruction.target);
    if (found == at.end()) return std::nullopt;
    return found->second;
  };
  for (size_t i = 0; i < instructions.size(); ++i) {
    if (instructions[i].flow == Flow::kNext) continue;
    leads[i + 1] = true;
    if (const std::optional<size_t> target = target_of(instructions[i])) leads[*target] = true;
  }
  std::vector<Block> blocks;
  std::vector<size_t> block_of(instructions.size());
  for (size_t i = 0; i < instructions.size(); ++i) {
    if (leads[i]) blocks.push_back({i, i, {}});
    block_of[i] = blocks.size() - 1;
    blocks.back().last = i + 1;
  }
  for (size_t b = 0; b < blocks.size(); ++b) {
    const Instruction& end = instructions[blocks[b].last - 1];
    if (const std::optional<size_t> target = target_of(end)) {
      blocks[b].next.push_back(block_of[*target]);
    }
    const bool falls_through = end.flow == Flow::kNext || end.flow == Flow::kConditionalBranch;
    if (falls_through && b + 1 < blocks.size() &&
        std::find(blocks[b].next.begin(), blocks[b].next.end(), b + 1) == blocks[b].next.end()) {
      blocks[b].next.push_back(b + 1);
    }
  }
  return blocks;
}

std::vector<size_t> reverse_postorder(const std::vector<Block>& blocks) {
  std::vector<size_t> order;
  std::vector<bool> seen(blocks.size(), false);
  std::vector<std::pair<size_t, size_t>> stack{{0, 0}};  // block, how many successors were taken
  seen[0] = true;
  while (!stack.empty()) {
    auto& [block, taken] = stack.back();
    if (taken == blocks[block].next.size()) {
      order.push_back(block);
      stack.pop_back();
      continue;
    }
    const size_t next = blocks[block].next[taken++];
    if (!seen[next]) {
      seen[next] = true;
      stack.emplace_back(next, 0);
    }
  }
  std::reverse(order.begin(), order.end());
  return order;
}

std::vector<std::vector<size_t>> predecessors(const std::vector<Block>& blocks) {
  std::vector<std::vector<size_t>> before(blocks.size());
  for (size_t b = 0; b < blocks.size(); ++b) {
    for (const size_t next : blocks[b].next) before[next].push_back(b);
  }
  return before;
}

// Cooper, Harvey and Kennedy, "A Simple, Fast Dominance Algorithm" (2001).
std::vector<size_t> find_dominators(const std::vector<Block>& blocks,
                                    const std::vector<std::vector<size_t>>& before) {
  const std::vector<size_t> order = reverse_postorder(blocks);
  std::vector<size_t> rank(blocks.size(), kNone), dominator(blocks.size(), kNone);
  for (size_t i = 0; i < order.size(); ++i) rank[order[i]] = i;
  dominator[0] = 0;
  for (bool changed = true; changed;) {
    changed = false;
    for (const size_t block : order) {
      if (block == 0) continue;
      size_t common = kNone;
      for (size_t other : before[block]) {
        if (dominator[other] == kNone) continue;
        if (common == kNone) {
          common = other;
          continue;
        }
        while (common != other) {
          while (rank[other] > rank[common]) other = dominator[other];
          while (rank[common] > rank[other]) common = dominator[common];
        }
      }
      if (dominator[block] != common) {
        dominator[block] = common;
        changed = true;
      }
    }
  }
  for (size_t b = 0; b < blocks.size(); ++b) {
    if (dominator[b] == kNone) dominator[b] = b;
  }
  return dominator;
}

bool dominates(const std::vector<size_t>& dominators, size_t over, size_t block) {
  while (block != over && dominators[block] != block) block = dominators[block];
  return block == over;
}

std::vector<Loop> find_loops(const std::vector<Block>& blocks,
                             const std::vector<std::vector<size_t>>& before,
                             const std::vector<size_t>& dominators) {
  std::map<size_t, std::vector<bool>> bodies;  // by header
  for (size_t b = 0; b < blocks.size(); ++b) {
    for (const size_t header : blocks[b].next) {
      if (!dominates(dominators, header, b)) continue;
      std::vector<bool>& body = bodies.try_emplace(header, blocks.size(), false).first->second;
      body[header] = true;
      std::vector<size_t> open{b};
      while (!open.empty()) {
        const size_t block = open.back();
        open.pop_back();
        if (body[block]) continue;
        body[block] = true;
        open.insert(open.end(), before[block].begin(), before[block].end());
      }
    }
  }
  std::vector<Loop> loops;
  for (const auto& [header, body] : bodies) {
    Loop loop;
    loop.header = header;
    for (size_t b = 0; b < body.size(); ++b) {
      if (body[b]) loop.blocks.push_back(b);
    }
    loops.push_back(std::move(loop));
  }
  // Natural loops with different headers are disjoint or nested.
  for (size_t i = 0; i < loops.size(); ++i) {
    for (size_t j = 0; j < loops.size(); ++j) {
      if (i != j && loops[j].contains(loops[i].header) &&
          loops[j].blocks.size() > loops[i].blocks.size()) {
        loops[i].inner_to_outer.push_back(j);
      }
    }
    std::sort(loops[i].inner_to_outer.begin(), loops[i].inner_to_outer.end(),
              [&](size_t a, size_t b) { return loops[a].blocks.size() < loops[b].blocks.size(); });
    if (!loops[i].inner_to_outer.empty()) {
      loops[loops[i].inner_to_outer.front()].children.push_back(i);
    }
  }
  return loops;
}

}  // namespace

bool Loop::contains(size_t block) const {
  return std::binary_search(blocks.begin(), blocks.end(), block);
}

ControlFlow find_control_flow(const std::vector<Instruction>& instructions) {
  ControlFlow flow;
  if (instructions.empty()) return flow;
  flow.blocks = find_blocks(instructions);
  const std::vector<std::vector<size_t>> before = predecessors(flow.blocks);
  flow.dominators = find_dominators(flow.blocks, before);
  flow.loops = find_loops(flow.blocks, before, flow.dominators);
  return flow;
}

}  // namespace radiance::census
