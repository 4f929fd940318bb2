#include "emulator/dual.hpp"

#include "emulator/handlers.hpp"
#include "emulator/wave.hpp"

namespace radiance::emulator {
namespace {

// A half's destination is one VGPR (VOPD has no wider operations).
bool reads(const Instruction& half, uint16_t vgpr) {
  for (int i = 0; i < half.sources; ++i) {
    const Operand& source = half.src[static_cast<size_t>(i)];
    if (source.is_vgpr() && source.index == vgpr) return true;
  }
  return false;
}

void in_order(const Instruction& in, Wave& wave) {
  in.first->execute(*in.first, wave);
  in.second->execute(*in.second, wave);
}

void reversed(const Instruction& in, Wave& wave) {
  in.second->execute(*in.second, wave);
  in.first->execute(*in.first, wave);
}

// Each reads what the other writes: Y runs on X's old destination.
void crossed(const Instruction& in, Wave& wave) {
  Lanes& x = wave.vgpr[in.first->dst[0].index];
  const Lanes before = x;
  in.first->execute(*in.first, wave);
  const Lanes after = x;
  x = before;
  in.second->execute(*in.second, wave);
  x = after;
}

}  // namespace

void make_dual(const Instruction& x, const Instruction& y, Instruction& out,
               std::deque<Instruction>& halves) {
  out.opcode = x.opcode;
  out.opclass = static_cast<uint8_t>(OpClass::kDual);
  out.first = &halves.emplace_back(x);
  out.second = &halves.emplace_back(y);
  const bool y_reads_x = reads(y, x.dst[0].index);
  const bool x_reads_y = reads(x, y.dst[0].index);
  out.execute = !y_reads_x ? in_order : !x_reads_y ? reversed : crossed;
}

}  // namespace radiance::emulator
