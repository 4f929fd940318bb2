#include "emulator/dpp.hpp"

#include "emulator/handlers.hpp"
#include "emulator/wave.hpp"

namespace radiance::emulator {

int dpp_source_lane(const Modifiers& mod, int lane) {
  const int row = lane & ~15;
  const int in_row = lane & 15;
  const int amount = mod.dpp_amount;
  switch (mod.dpp) {
    case DppKind::kNone:
      return lane;
    case DppKind::kDpp8:
      return (lane & ~7) | static_cast<int>(mod.dpp_selectors >> (3 * (lane & 7)) & 7);
    case DppKind::kQuadPerm:
      return (lane & ~3) | static_cast<int>(mod.dpp_selectors >> (2 * (lane & 3)) & 3);
    case DppKind::kRowShl:
      return in_row + amount < 16 ? lane + amount : -1;
    case DppKind::kRowShr:
      return in_row >= amount ? lane - amount : -1;
    case DppKind::kRowRor:
      return row | ((in_row - amount) & 15);
    case DppKind::kRowMirror:
      return row | (15 - in_row);
    case DppKind::kRowHalfMirror:
      return (lane & ~7) | (7 - (lane & 7));
    case DppKind::kRowShare:
      return row | amount;
    case DppKind::kRowXmask:
      return lane ^ amount;
  }
  return lane;
}

void execute_dpp(const Instruction& in, Wave& wave) {
  const Modifiers& mod = in.mod;
  const uint32_t exec = wave.exec();
  const Lanes& from = wave.vgpr[in.src[0].index];
  uint32_t written = exec;
  uint32_t read = 0;
  Lanes permuted;
  for (int lane = 0; lane < kLanes; ++lane) {
    const int source = dpp_source_lane(mod, lane);
    const bool active = source >= 0 && (mod.fetch_inactive || (exec >> source & 1));
    permuted.v[lane] = active ? from.v[source] : 0;
    if (active && (exec >> lane & 1)) read |= 1u << source;
    // DPP8 reads zero from an inactive lane; DPP16 leaves the destination alone unless bound_ctrl
    // asks for the zero.
    const bool valid = active || mod.bound_ctrl || mod.dpp == DppKind::kDpp8;
    const bool enabled = (mod.row_mask >> (lane / 16) & 1) && (mod.bank_mask >> (lane / 4 & 3) & 1);
    if (!valid || !enabled) written &= ~(1u << lane);
  }
  if (wave.strict) wave.strict->check_vgprs(in, in.src[0].index, 1, read);
  wave.permuted = permuted;
  // The base handler sees the permuted source; the copy costs little beside the permutation.
  Instruction base = in;
  base.src[0].kind = OperandKind::kBuffer;
  wave.set_exec(written);
  in.inner(base, wave);
  if (!(in.opcode->flags & kWritesExec)) wave.set_exec(exec);
}

}  // namespace radiance::emulator
