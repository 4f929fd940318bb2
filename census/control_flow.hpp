// Basic blocks, dominators and natural loops of one kernel.
#pragma once

#include <cstddef>
#include <vector>

#include "census/instruction.hpp"

namespace radiance::census {

struct Block {
  size_t first = 0, last = 0;  // instructions [first, last)
  std::vector<size_t> next;    // blocks that may follow
};

// A natural loop: the blocks that reach a branch back to the header, which dominates them all.
// Branches back to one header are one loop.
struct Loop {
  size_t header = 0;
  std::vector<size_t> blocks;          // in address order, the header among them
  std::vector<size_t> children;        // loops directly inside; indices into ControlFlow::loops
  std::vector<size_t> inner_to_outer;  // the loops around it, from the inside
  bool contains(size_t block) const;
};

struct ControlFlow {
  std::vector<Block> blocks;       // in address order; the first is the entry
  std::vector<size_t> dominators;  // immediate; of itself for the entry and for dead blocks
  std::vector<Loop> loops;
};

// instructions: all of one kernel, by address. A branch to no instruction's address leaves the
// kernel. A cycle that can be entered in two places has no header and is no natural loop.
ControlFlow find_control_flow(const std::vector<Instruction>& instructions);

}  // namespace radiance::census
